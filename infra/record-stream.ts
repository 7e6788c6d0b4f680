// The stream of the records table as the outcome publisher's event source, and the alarms on it.

import { Duration } from "aws-cdk-lib";
import * as cloudwatch from "aws-cdk-lib/aws-cloudwatch";
import * as lambda from "aws-cdk-lib/aws-lambda";
import type * as s3 from "aws-cdk-lib/aws-s3";

import { sum } from "./alarm.ts";
import type { AddAlarm } from "./alarm.ts";
import { count } from "./metrics.ts";

/**
 * What Lambda polls with. A stream's own permissions:
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/iam-policy-example-lamda-process-dynamodb-streams.html
 */
export const STREAM_READS = [
  "dynamodb:DescribeStream",
  "dynamodb:GetRecords",
  "dynamodb:GetShardIterator",
  "dynamodb:ListStreams",
];

const MINUTES_5 = Duration.minutes(5);

export function mapStream(
  publisher: lambda.Function,
  streamArn: string,
  failures: s3.Bucket,
): lambda.EventSourceMapping {
  return publisher.addEventSourceMapping("Stream", {
    eventSourceArn: streamArn,
    startingPosition: lambda.StartingPosition.TRIM_HORIZON, // LATEST loses what is written meanwhile
    batchSize: 10, // what one PutEvents takes
    bisectBatchOnError: true,
    reportBatchItemFailures: true,
    retryAttempts: 20,
    maxRecordAge: Duration.hours(12), // half of the stream's 24: one bad record does not cost the rest
    // INSERT too: a repair puts a record together with its outcome.
    filters: [
      lambda.FilterCriteria.filter({
        eventName: ["INSERT", "MODIFY"],
        dynamodb: { NewImage: { status: { S: ["COMPLETED"] } } },
      }),
    ],
    // S3 keeps the record itself; a queue would get a pointer that is void after 24 hours. Its own
    // construct would grant more than the two permissions that Lambda needs.
    // https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-errors.html
    onFailure: { bind: () => ({ destination: failures.bucketArn }) },
    metricsConfig: { metrics: [lambda.MetricType.EVENT_COUNT] },
  });
}

/** How old the record was that the publisher was given last, in ms. */
export const iteratorAge = (publisher: lambda.IFunction): cloudwatch.Metric =>
  publisher.metric("IteratorAge", { period: MINUTES_5, statistic: "Maximum" });

export function publisherAlarms(
  add: AddAlarm,
  publisher: lambda.IFunction,
  mapping: lambda.EventSourceMapping,
): cloudwatch.Alarm[] {
  // https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html
  const events = (metricName: string) =>
    new cloudwatch.Metric({
      namespace: "AWS/Lambda",
      metricName,
      dimensionsMap: { EventSourceMappingUUID: mapping.eventSourceMappingId },
      period: MINUTES_5,
      statistic: "Sum",
    });
  return [
    add(
      "OutcomesNotPublished",
      "An outcome could not be published within 20 tries or 12 hours. Other services know nothing of that payment. The change of its record is in the bucket Failures, the reason in the publisher's log. Fix it, then publish the outcomes again: `payments republish --since …`.",
      sum("Outcomes given up", MINUTES_5, {
        kept: events("OnFailureDestinationDeliveredEventCount"),
        dropped: events("DroppedEventCount"),
      }),
    ),
    add(
      "OutcomesLate",
      "Outcomes are published more than 5 minutes after they were recorded. Nothing is lost for 12 hours. Look for throttles and errors of the publisher, and for PutEvents' own limits.",
      iteratorAge(publisher),
      { threshold: 300_000 },
    ),
    add(
      "PublisherErrors",
      "The outcome publisher failed in three consecutive periods of 5 minutes: EventBridge does not take its events, or it crashes. Lambda goes on trying for 12 hours, and every later outcome of the shard waits behind. The log has the code.",
      // An outcome that fails alone is the lowest failure of its batch, which Lambda counts as no error.
      sum("Failures", MINUTES_5, {
        failed: count({ function: publisher }, "PublishFailed", MINUTES_5),
        errors: publisher.metricErrors({ period: MINUTES_5, statistic: "Sum" }),
      }),
      { periods: 3 },
    ),
  ];
}
