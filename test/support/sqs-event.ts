// Events as Lambda's SQS event source makes them, and the invocation that they come with.

import type { ChangeMessageVisibilityBatchCommand, SQSClient } from "@aws-sdk/client-sqs";
import type { SQSEvent, SQSMessageAttributes, SQSRecord } from "aws-lambda";

export type Sent = {
  /** Distinguishes them: `sqs-a` with the receipt `handle-a`. */
  name: string;
  body: string;
  receiveCount?: number;
  traceHeader?: string;
  messageAttributes?: SQSMessageAttributes | undefined;
};

export function sqsEvent(...messages: Sent[]): SQSEvent {
  const Records = messages.map(({ name, body, receiveCount = 1, traceHeader, ...rest }) => ({
    messageId: `sqs-${name}`,
    receiptHandle: `handle-${name}`,
    body,
    attributes: { ApproximateReceiveCount: String(receiveCount), AWSTraceHeader: traceHeader },
    messageAttributes: {},
    ...rest,
  }));
  return { Records: Records as unknown as SQSRecord[] };
}

/** An invocation that has 60 s left. */
export const CONTEXT = { awsRequestId: "request-1", getRemainingTimeInMillis: () => 60_000 };

/** A client of SQS, and the visibility timeouts that it was asked for. */
export function visibilityClient() {
  const timeouts: (number | undefined)[] = [];
  const send = async ({ input }: ChangeMessageVisibilityBatchCommand) => {
    timeouts.push(...(input.Entries ?? []).map((entry) => entry.VisibilityTimeout));
    return {};
  };
  return { client: { send } as unknown as SQSClient, timeouts };
}
