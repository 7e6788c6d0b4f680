// The payment API: the door for HTTP in front of the payments queue.

import { Duration } from "aws-cdk-lib";
import { AccessLogFormat } from "aws-cdk-lib/aws-apigateway";
import * as apigateway from "aws-cdk-lib/aws-apigatewayv2";
import { HttpIamAuthorizer, HttpJwtAuthorizer } from "aws-cdk-lib/aws-apigatewayv2-authorizers";
import { HttpLambdaIntegration } from "aws-cdk-lib/aws-apigatewayv2-integrations";
import type * as cloudwatch from "aws-cdk-lib/aws-cloudwatch";
import * as logs from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";

import { timingVariables } from "../lib/timing/variables.ts";
import { alarmsOf } from "./alarm.ts";
import { addPart, counts, graph, PERIOD } from "./dashboard.ts";
import { allow, allowTableKey } from "./execution-role.ts";
import { lambdaFunction } from "./lambda-function.ts";
import type { LambdaFunction } from "./lambda-function.ts";
import { settingsOf } from "./part.ts";
import type { PaymentWorker } from "./payment-worker.ts";

export interface PaymentApiProps {
  readonly worker: PaymentWorker;
  /**
   * Who may call: holders of a token of this issuer for this audience, each with keys of its own.
   * Absent: IAM principals of the account that may `execute-api:Invoke`, who share their keys.
   */
  readonly jwt?: { readonly issuer: string; readonly audience: readonly string[] };
  /** Requests per second, and how many more at once. Default 50 and 100: the queue takes what waits. */
  readonly throttle?: { readonly rateLimit: number; readonly burstLimit: number };
}

export class PaymentApi extends Construct {
  readonly api: apigateway.HttpApi;
  readonly url: string;
  readonly handler: LambdaFunction;
  readonly alarms: cloudwatch.Alarm[];

  constructor(scope: Construct, id: string, props: PaymentApiProps) {
    super(scope, id);
    const { worker, jwt } = props;
    const { settings } = worker;
    this.handler = apiFunction(this, worker);
    this.api = new apigateway.HttpApi(this, "Api", {
      description: "Payments over HTTP",
      createDefaultStage: false,
      defaultAuthorizer: jwt
        ? new HttpJwtAuthorizer("Jwt", jwt.issuer, { jwtAudience: [...jwt.audience] })
        : new HttpIamAuthorizer(),
    });
    const integration = new HttpLambdaIntegration("Handler", this.handler.function);
    const { GET, POST } = apigateway.HttpMethod;
    this.api.addRoutes({ path: "/payments", methods: [POST], integration });
    this.api.addRoutes({ path: "/payments/{id}", methods: [GET], integration });
    const stage = new apigateway.HttpStage(this, "Stage", {
      httpApi: this.api,
      stageName: "$default",
      autoDeploy: true,
      throttle: props.throttle ?? { rateLimit: 50, burstLimit: 100 },
      accessLogSettings: {
        destination: new apigateway.LogGroupLogDestination(accessLog(this, worker)),
        format: AccessLogFormat.custom(ACCESS_LOG),
      },
    });
    this.url = stage.url;
    const each = { period: PERIOD, statistic: "Sum" };
    this.alarms = [
      alarmsOf(this, settings)(
        "ApiUnavailable",
        "The payment API answered 5xx in three consecutive periods of 5 minutes: the table or the queue did not answer, or the function failed. Nothing was accepted and nothing is lost, but clients cannot pay. The log has the status, and the worker's alarms the cause.",
        this.api.metricServerError(each),
        { periods: 3 },
      ),
    ];
    addPart(worker.dashboard, "Do clients get through?", this.alarms, [
      graph("Payments over HTTP", counts(this.handler, ["Accepted", "NotAccepted", "Unavailable"])),
      graph("Answers", [this.api.metricClientError(each), this.api.metricServerError(each)]),
    ]);
  }
}

function apiFunction(scope: Construct, worker: PaymentWorker): LambdaFunction {
  const { table, queue, timings } = worker;
  const settings = settingsOf(worker);
  return lambdaFunction(scope, {
    ...settings,
    bundle: "payment-api",
    title: "payment API",
    description: "Accepts payments over HTTP, and says how they stand",
    timeout: Duration.seconds(15), // a claim and a send, at their slowest; API Gateway waits for 30
    environment: {
      RECORDS_TABLE: table.tableName,
      QUEUE_URL: queue.queueUrl,
      ...timingVariables(timings),
    },
    statements: [
      allow("Accept", ["dynamodb:GetItem", "dynamodb:PutItem"], table.tableArn),
      allow("Send", ["sqs:SendMessage"], queue.queueArn),
      ...allowTableKey(scope, table, settings.encryptionKey),
    ],
  });
}

// No query, no header and no address of a client.
const ACCESS_LOG = JSON.stringify({
  requestId: "$context.requestId",
  time: "$context.requestTime",
  route: "$context.routeKey",
  status: "$context.status",
  latencyMs: "$context.responseLatency",
  integrationError: "$context.integrationErrorMessage",
});

function accessLog(scope: Construct, worker: PaymentWorker): logs.LogGroup {
  const { removalPolicy, encryptionKey, logRetention } = settingsOf(worker);
  return new logs.LogGroup(scope, "AccessLog", {
    retention: logRetention ?? logs.RetentionDays.SIX_MONTHS,
    removalPolicy,
    ...(encryptionKey && { encryptionKey }),
  });
}
