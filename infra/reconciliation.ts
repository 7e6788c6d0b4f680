// The scheduled reconciliation: every hour, do the records and Stripe agree? It reads both sides, and
// writes nothing but what moves a recorded outcome forward.

import { Duration } from "aws-cdk-lib";
import type * as cloudwatch from "aws-cdk-lib/aws-cloudwatch";
import { MathExpression, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import * as iam from "aws-cdk-lib/aws-iam";
import * as scheduler from "aws-cdk-lib/aws-scheduler";
import { Construct } from "constructs";

import { timingVariables } from "../lib/timing/variables.ts";
import { alarmsOf } from "./alarm.ts";
import { addPart, counts, graph } from "./dashboard.ts";
import { allow, allowTableKey } from "./execution-role.ts";
import { lambdaFunction } from "./lambda-function.ts";
import type { LambdaFunction } from "./lambda-function.ts";
import { count } from "./metrics.ts";
import { settingsOf } from "./part.ts";
import type { PaymentWorker } from "./payment-worker.ts";

export interface ReconciliationProps {
  readonly worker: PaymentWorker;
}

export class Reconciliation extends Construct {
  readonly function: LambdaFunction;
  readonly schedule: scheduler.CfnSchedule;
  readonly alarms: readonly cloudwatch.Alarm[];

  constructor(scope: Construct, id: string, { worker }: ReconciliationProps) {
    super(scope, id);
    const { table, stripeSecret } = worker;
    const settings = settingsOf(worker);
    this.function = lambdaFunction(this, {
      ...settings,
      bundle: "reconciliation",
      title: "reconciliation",
      description:
        "Compares the records with Stripe, and moves forward what has been open for long",
      timeout: Duration.minutes(15), // Lambda's longest: it reads the whole table
      environment: {
        RECORDS_TABLE: table.tableName,
        ...(worker.settings.stripeMode && { STRIPE_MODE: worker.settings.stripeMode }),
        ...timingVariables(worker.timings),
      },
      statements: [
        allow(
          "Compare",
          ["dynamodb:GetItem", "dynamodb:Scan", "dynamodb:UpdateItem"],
          table.tableArn,
        ),
        ...allowTableKey(this, table, settings.encryptionKey),
      ],
      secrets: [{ name: "StripeKey", variable: "STRIPE_SECRET_ARN", secret: stripeSecret }],
    });
    const { functionArn } = this.function.function;
    const role = new iam.Role(this, "ScheduleRole", {
      description: "Starts the reconciliation",
      assumedBy: new iam.ServicePrincipal("scheduler.amazonaws.com"),
      managedPolicies: [
        new iam.ManagedPolicy(this, "SchedulePolicy", {
          description: "The call that starts the reconciliation",
          statements: [allow("Start", ["lambda:InvokeFunction"], functionArn)],
        }),
      ],
    });
    this.schedule = new scheduler.CfnSchedule(this, "Schedule", {
      description: "Every hour: each run covers 24 hours, so that a missed one is made up for",
      scheduleExpression: "rate(1 hour)",
      flexibleTimeWindow: { mode: "FLEXIBLE", maximumWindowInMinutes: 15 },
      target: {
        arn: functionArn,
        roleArn: role.roleArn,
        retryPolicy: { maximumRetryAttempts: 2, maximumEventAgeInSeconds: 3_600 },
      },
    });
    this.alarms = this.wake(worker);
    addPart(
      worker.dashboard,
      "Do the records and Stripe agree?",
      [...this.alarms],
      [
        graph(
          "Reconciliation",
          counts(this.function, ["Reconciled", "ReconciliationFinding", "OpenTooLong"]),
        ),
      ],
    );
  }

  private wake({ settings }: PaymentWorker): cloudwatch.Alarm[] {
    const add = alarmsOf(this, settings);
    const hour = Duration.hours(1);
    return [
      add(
        "ReconciliationFindings",
        "The records and Stripe do not agree about a payment: charged twice, charged and not recorded, or recorded and not at Stripe. The log has the message id and the kind; `payments status ID --stripe` shows both sides, and `payments reconcile --repair` records what is missing.",
        count(this.function, "ReconciliationFinding", hour),
        { threshold: 1 },
      ),
      add(
        "ReconciliationOverdue",
        "No reconciliation has succeeded for three hours: a double charge would not be found, and open payments are not asked about. Look at the function's log and at its schedule.",
        new MathExpression({
          expression: "IF(FILL(done, 0) >= 1, 0, 1)",
          usingMetrics: { done: count(this.function, "Reconciled", hour) },
          period: hour,
          label: "Hours without a reconciliation",
        }),
        { threshold: 1, periods: 3, treatMissingData: TreatMissingData.BREACHING },
      ),
      add(
        "PaymentsOpenTooLong",
        "A payment has been open for 20 days, longer than any bank debit takes. Stripe has no answer either: ask Stripe, and cancel it there if it will not come.",
        count(this.function, "OpenTooLong", hour),
        { threshold: 1 },
      ),
    ];
  }
}
