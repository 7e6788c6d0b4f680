// What the worker, the event source and an operator rely on in SQS's API itself.

import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  StartMessageMoveTaskCommand,
} from "@aws-sdk/client-sqs";
import type { Message, SQSClient } from "@aws-sdk/client-sqs";
import { expect } from "vitest";

import { documentedBy } from "../conform.ts";
import type { Scenario } from "../conform.ts";

export type SqsSubject = { client: SQSClient; queueUrl: string; dlqUrl: string; dlqArn: string };

const API = "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference";

async function send({ client, queueUrl }: SqsSubject, body: string): Promise<void> {
  await client.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: body }));
}

async function receive({ client, queueUrl }: SqsSubject, options = {}): Promise<Message[]> {
  const command = new ReceiveMessageCommand({
    QueueUrl: queueUrl,
    MaxNumberOfMessages: 10,
    WaitTimeSeconds: 1,
    ...options,
  });
  return (await client.send(command)).Messages ?? [];
}

/** A batch's entries: a message that is in flight, and a receipt that was never given out. */
async function goodAndBad(queue: SqsSubject) {
  await send(queue, "one");
  const [message] = await receive(queue);
  return [
    { Id: "good", ReceiptHandle: message?.ReceiptHandle },
    { Id: "bad", ReceiptHandle: "never given out" },
  ];
}

/** Changes visibilities by receipts that were never given out. */
async function changeVisibilities({ client, queueUrl }: SqsSubject, ids: string[]): Promise<void> {
  const Entries = ids.map((Id) => ({ Id, ReceiptHandle: "x", VisibilityTimeout: 0 }));
  await client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: queueUrl, Entries }));
}

async function redrive({ client }: SqsSubject, SourceArn: string | undefined): Promise<void> {
  const abortSignal = AbortSignal.timeout(3_000);
  await client.send(new StartMessageMoveTaskCommand({ SourceArn }), { abortSignal });
}

/** The name of the error that a request ends in; undefined when it succeeds. */
async function errorOf(request: Promise<unknown>): Promise<string | undefined> {
  return request.then(
    () => undefined,
    (error: Error) => error.name,
  );
}

export const sqsApiScenarios: readonly Scenario<SqsSubject>[] = [
  ...documentedBy<SqsSubject>(`${API}/API_ReceiveMessage.html`, {
    async "message attributes arrive as they were sent when they are asked for"(queue) {
      const MessageAttributes = {
        "bq-schema-version": { DataType: "Number", StringValue: "1" },
        traceparent: { DataType: "String", StringValue: "00-4bf92f35-00f067aa-01" },
      };
      await queue.client.send(
        new SendMessageCommand({ QueueUrl: queue.queueUrl, MessageBody: "one", MessageAttributes }),
      );

      const [message] = await receive(queue, { MessageAttributeNames: ["All"] });

      expect(message?.MessageAttributes).toMatchObject(MessageAttributes);
    },

    async "the system attributes report the receive count and when a message was sent and received"(
      queue,
    ) {
      const before = Date.now();
      await send(queue, "one");

      const [message] = await receive(queue, { MessageSystemAttributeNames: ["All"] });

      const { ApproximateReceiveCount, SentTimestamp, ApproximateFirstReceiveTimestamp } =
        message?.Attributes ?? {};
      expect(ApproximateReceiveCount).toBe("1");
      expect(Number(SentTimestamp)).toBeGreaterThanOrEqual(before - 1_000);
      expect(Number(ApproximateFirstReceiveTimestamp)).toBeGreaterThanOrEqual(
        Number(SentTimestamp),
      );
    },

    async "a receive gives out ten messages at the most, and none of them twice"(queue) {
      const Entries = Array.from({ length: 10 }, (_, i) => ({ Id: `${i}`, MessageBody: `m${i}` }));
      await queue.client.send(new SendMessageBatchCommand({ QueueUrl: queue.queueUrl, Entries }));
      await send(queue, "m10");

      const first = await receive(queue);
      const second = await receive(queue);

      const bodies = [...first, ...second].map(({ Body }) => Body);
      expect(first.length).toBeLessThanOrEqual(10);
      expect(new Set(bodies).size).toBe(bodies.length);
    },
  }),
  ...documentedBy<SqsSubject>(`${API}/API_DeleteMessageBatch.html`, {
    async "deleting a batch deletes what it names and fails for a receipt that was never given out"(
      queue,
    ) {
      const Entries = await goodAndBad(queue);

      const answer = await queue.client.send(
        new DeleteMessageBatchCommand({ QueueUrl: queue.queueUrl, Entries }),
      );

      expect(answer).toMatchObject({
        Successful: [{ Id: "good" }],
        Failed: [{ Id: "bad", Code: "ReceiptHandleIsInvalid" }],
      });
    },
  }),
  ...documentedBy<SqsSubject>(`${API}/API_ChangeMessageVisibilityBatch.html`, {
    async "changing visibilities in a batch changes what it can and fails for a bogus receipt"(
      queue,
    ) {
      const Entries = (await goodAndBad(queue)).map((one) => ({ ...one, VisibilityTimeout: 0 }));

      const answer = await queue.client.send(
        new ChangeMessageVisibilityBatchCommand({ QueueUrl: queue.queueUrl, Entries }),
      );

      expect(answer).toMatchObject({ Successful: [{ Id: "good" }], Failed: [{ Id: "bad" }] });
      expect((await receive(queue)).map(({ Body }) => Body)).toEqual(["one"]);
    },
  }),
  ...documentedBy<SqsSubject>(`${API}/API_ChangeMessageVisibility.html`, {
    async "a visibility longer than twelve hours is refused"(queue) {
      await send(queue, "one");
      const [message] = await receive(queue);
      const entry = { Id: "a", ReceiptHandle: message?.ReceiptHandle, VisibilityTimeout: 43_201 };
      const command = new ChangeMessageVisibilityBatchCommand({
        QueueUrl: queue.queueUrl,
        Entries: [entry],
      });

      const refused = await queue.client.send(command).then(
        ({ Failed = [] }) => Failed.length === 1,
        () => true,
      );

      expect(refused).toBe(true);
    },
  }),
  ...documentedBy<SqsSubject>(`${API}/API_ChangeMessageVisibilityBatch.html`, {
    async "a batch of more than ten changes of visibility is refused"(queue) {
      const eleven = Array.from({ length: 11 }, (_, i) => `${i}`);

      expect(await errorOf(changeVisibilities(queue, eleven))).toBe("TooManyEntriesInBatchRequest");
    },

    async "a batch without a change of visibility is refused"(queue) {
      expect(await errorOf(changeVisibilities(queue, []))).toBe("EmptyBatchRequest");
    },

    async "a batch with an id twice is refused"(queue) {
      expect(await errorOf(changeVisibilities(queue, ["a", "a"]))).toBe("BatchEntryIdsNotDistinct");
    },
  }),
  ...documentedBy<SqsSubject>(`${API}/API_GetQueueAttributes.html`, {
    async "the attributes report how many messages are visible and how many in flight"(queue) {
      await send(queue, "one");
      await receive(queue);
      await send(queue, "two");

      const { Attributes = {} } = await queue.client.send(
        new GetQueueAttributesCommand({ QueueUrl: queue.queueUrl, AttributeNames: ["All"] }),
      );

      expect(Attributes).toMatchObject({
        ApproximateNumberOfMessages: "1",
        ApproximateNumberOfMessagesNotVisible: "1",
      });
    },
  }),
  ...documentedBy<SqsSubject>(`${API}/API_StartMessageMoveTask.html`, {
    async "a queue that is nobody's dead-letter queue cannot be redriven"(queue) {
      const { Attributes } = await queue.client.send(
        new GetQueueAttributesCommand({ QueueUrl: queue.queueUrl, AttributeNames: ["QueueArn"] }),
      );

      const refused = await errorOf(redrive(queue, Attributes?.["QueueArn"]));

      expect(["InvalidParameterValue", "UnsupportedOperation"]).toContain(refused);
    },

    async "a queue that does not exist cannot be redriven"(queue) {
      expect(await errorOf(redrive(queue, `${queue.dlqArn}-missing`))).toBe(
        "ResourceNotFoundException",
      );
    },

    async "an empty dead-letter queue can be redriven"(queue) {
      expect(await errorOf(redrive(queue, queue.dlqArn))).toBeUndefined();
    },
  }),
];
