// The scheduled reconciliation: every hour, do the records and Stripe agree? It reads both sides, and
// writes nothing but its report, and what moves a recorded outcome forward.

import { Duration } from "aws-cdk-lib";
import type * as cloudwatch from "aws-cdk-lib/aws-cloudwatch";
import { MathExpression, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import * as iam from "aws-cdk-lib/aws-iam";
import type * as kms from "aws-cdk-lib/aws-kms";
import * as scheduler from "aws-cdk-lib/aws-scheduler";
import { Construct } from "constructs";

import { timingVariables } from "../lib/timing/variables.ts";
import { alarmsOf } from "./alarm.ts";
import { addPart, counts, graph } from "./dashboard.ts";
import { allow, allowKey, allowTableKey } from "./execution-role.ts";
import { lambdaFunction } from "./lambda-function.ts";
import type { LambdaFunction } from "./lambda-function.ts";
import { count } from "./metrics.ts";
import { reserves, settingsOf } from "./part.ts";
import type { PaymentWorker } from "./payment-worker.ts";
import { privateBucket } from "./private-bucket.ts";

/** A bucket for reports; any `IBucket` has these. */
export interface ReportBucket {
  readonly bucketName: string;
  readonly bucketArn: string;
  readonly encryptionKey?: kms.IKey | undefined;
  arnForObjects(keyPattern: string): string;
}

export interface ReconciliationProps {
  readonly worker: PaymentWorker;
  /** Where reports are kept, and how far an unfinished run has come. Absent: a new bucket. */
  readonly reportBucket?: ReportBucket;
}

// As long as the log: a payment may be disputed for up to 120 days.
const REPORTS_KEPT = Duration.days(180);

export class Reconciliation extends Construct {
  readonly function: LambdaFunction;
  /** `reports/` has a report for each run, by the time that it covers up to. */
  readonly reports: ReportBucket;
  readonly schedule: scheduler.CfnSchedule;
  readonly alarms: readonly cloudwatch.Alarm[];

  constructor(scope: Construct, id: string, { worker, reportBucket }: ReconciliationProps) {
    super(scope, id);
    const { table, stripeSecret } = worker;
    const settings = settingsOf(worker);
    this.reports =
      reportBucket ??
      privateBucket(this, "Reports", {
        ...settings,
        expireAfter: REPORTS_KEPT,
        noAccessLog: "Only the reconciliation writes here: counts, ids and amounts.",
        writes: {
          keys: "reports/*",
          because: "A report is named by the time that it covers up to.",
        },
      });
    this.function = lambdaFunction(this, {
      ...settings,
      bundle: "reconciliation",
      title: "reconciliation",
      description:
        "Compares the records with Stripe, and moves forward what has been open for long",
      timeout: Duration.minutes(15), // Lambda's longest: it reads the whole table
      // Another one at the same time would only do the same.
      ...(reserves(worker) && { reservedConcurrency: 1 }),
      environment: {
        RECORDS_TABLE: table.tableName,
        REPORT_BUCKET: this.reports.bucketName,
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
        allow(
          "KeepCheckpoint",
          ["s3:GetObject", "s3:PutObject"],
          this.reports.arnForObjects("checkpoint.json"),
        ),
        // Or a missing checkpoint would be forbidden, and not missing.
        allow("FindCheckpoint", ["s3:ListBucket"], this.reports.bucketArn),
        allow("Report", ["s3:PutObject"], this.reports.arnForObjects("reports/*")),
        ...this.allowReportKey(settings.encryptionKey),
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
      description:
        "Begins a run every hour, of 24 hours, so that a missed one is made up for; goes on every 15 minutes with one that is not finished",
      scheduleExpression: "rate(15 minutes)",
      flexibleTimeWindow: { mode: "OFF" },
      target: {
        arn: functionArn,
        roleArn: role.roleArn,
        retryPolicy: { maximumRetryAttempts: 2, maximumEventAgeInSeconds: 900 },
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

  /** A bucket that was passed in may have a key of its own. */
  private allowReportKey(encryptionKey: kms.IKey | undefined): iam.PolicyStatement[] {
    const key = this.reports.encryptionKey;
    return key && key !== encryptionKey ? [allowKey(this, "UseReportKey", key, ["s3"])] : [];
  }

  private wake({ settings }: PaymentWorker): cloudwatch.Alarm[] {
    const add = alarmsOf(this, settings);
    const hour = Duration.hours(1);
    return [
      add(
        "ReconciliationFindings",
        "The records and Stripe do not agree: a payment charged twice, charged and not recorded, of another amount, or not in Stripe's balance, or the sums of a day. The log and the newest report in the bucket have both sides and what to do; `payments reconcile --repair` records what is missing.",
        count(this.function, "ReconciliationFinding", hour),
      ),
      add(
        "ReconciliationOverdue",
        "No reconciliation has succeeded for three hours: a double charge would not be found, and open payments are not asked about. Look at the function's log and at its schedule: a run goes on from its checkpoint every 15 minutes.",
        new MathExpression({
          expression: "IF(FILL(done, 0) >= 1, 0, 1)",
          usingMetrics: { done: count(this.function, "Reconciled", hour) },
          period: hour,
          label: "Hours without a reconciliation",
        }),
        { periods: 3, treatMissingData: TreatMissingData.BREACHING },
      ),
      add(
        "PaymentsOpenTooLong",
        "A payment has been open for 20 days, longer than any bank debit takes. Stripe has no answer either: ask Stripe, and cancel it there if it will not come.",
        count(this.function, "OpenTooLong", hour),
      ),
    ];
  }
}
