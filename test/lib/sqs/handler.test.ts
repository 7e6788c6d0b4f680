// With a mocked client: what the handler answers to Lambda and asks of SQS, for messages whose body
// is the disposition.

import { ChangeMessageVisibilityBatchCommand, SQSClient } from "@aws-sdk/client-sqs";
import { mockClient } from "aws-sdk-client-mock";
import { beforeEach, expect, test, vi } from "vitest";

import type { Delivery, Disposition } from "../../../lib/sqs/delivery.ts";
import { createSqsHandler } from "../../../lib/sqs/handler.ts";
import { CONTEXT, sqsEvent } from "../../support/sqs-event.ts";
import type { Sent } from "../../support/sqs-event.ts";

const client = new SQSClient({ region: "us-east-1" });
const sqs = mockClient(client);
beforeEach(() => {
  sqs.reset();
  sqs.on(ChangeMessageVisibilityBatchCommand).resolves({ Successful: [], Failed: [] });
});

const NOW = Date.parse("2026-11-29T12:00:00Z");
const DOWN: Disposition = { kind: "backoff", unavailable: true };
const BAD = { name: "bad", disposition: { kind: "dead-letter" } as const };

async function handle(...messages: (Omit<Sent, "body"> & { disposition?: Disposition })[]) {
  const lines: object[] = [];
  const deliveries: Delivery[] = [];
  const handler = createSqsHandler<void>({
    queue: { client, url: "https://sqs.us-east-1.amazonaws.com/123456789012/events" },
    timings: { backoffBaseMs: 30_000, backoffCapMs: 900_000 },
    now: () => NOW,
    random: () => 0.5,
    write: (line) => lines.push(line),
    async process(delivery, { requestId, remainingMs }) {
      deliveries.push(delivery);
      if (delivery.body === "bug") throw new RangeError("4242424242424242 is not in range");
      const disposition = JSON.parse(delivery.body) as Disposition;
      return { disposition, line: { of: delivery.sqsMessageId, requestId, left: remainingMs() } };
    },
  });
  const event = sqsEvent(
    ...messages.map(({ disposition, ...sent }) => ({
      body: disposition ? JSON.stringify(disposition) : "bug",
      ...sent,
    })),
  );
  const answer = handler(event, CONTEXT);
  return { answer: await answer.catch((error: unknown) => error), lines, deliveries };
}

const visibilityTimeouts = () =>
  sqs
    .commandCalls(ChangeMessageVisibilityBatchCommand)
    .flatMap((call) => call.args[0].input.Entries ?? [])
    .map(({ ReceiptHandle, VisibilityTimeout }) => [ReceiptHandle, VisibilityTimeout]);

test("a batch that went well answers with no failures and asks nothing of SQS", async () => {
  const disposition = { kind: "acknowledge" } as const;

  const { answer, lines } = await handle({ name: "a", disposition }, { name: "b", disposition });

  expect(answer).toEqual({ batchItemFailures: [] });
  expect(sqs.calls()).toHaveLength(0);
  expect(lines).toEqual([
    { of: "sqs-a", requestId: "request-1", left: 60_000 },
    { of: "sqs-b", requestId: "request-1", left: 60_000 },
  ]);
});

test("an empty batch is no failure", async () => {
  expect(await handle()).toMatchObject({ answer: { batchItemFailures: [] } });
});

test("each failed message gets its own visibility timeout", async () => {
  const { answer } = await handle(
    { name: "fine", disposition: { kind: "acknowledge" } },
    { name: "down", disposition: DOWN, receiveCount: 3 }, // between 60 and 120 s, random 0.5: 90 s
    { name: "later", disposition: { kind: "at", time: NOW + 41_001 } },
    BAD,
  );

  expect(answer).toEqual({
    batchItemFailures: [
      { itemIdentifier: "sqs-down" },
      { itemIdentifier: "sqs-later" },
      { itemIdentifier: "sqs-bad" },
    ],
  });
  expect(visibilityTimeouts()).toEqual([
    ["handle-down", 90],
    ["handle-later", 42],
    ["handle-bad", 0],
  ]);
});

test("more than ten failures take several requests, because SQS takes ten in one", async () => {
  const names = Array.from({ length: 23 }, (_, i) => `bad-${i}`);

  await handle(...names.map((name) => ({ name, disposition: { kind: "dead-letter" } as const })));

  const sizes = sqs
    .commandCalls(ChangeMessageVisibilityBatchCommand)
    .map((call) => call.args[0].input.Entries?.length);
  expect(sizes).toEqual([10, 10, 3]);
});

test("when a service was unavailable for every message the handler throws, with their timeouts set", async () => {
  const { answer } = await handle(...["a", "b"].map((name) => ({ name, disposition: DOWN })));

  expect(answer).toMatchObject({
    name: "Unavailable",
    message:
      "A service that every message needs was unavailable for all 2 messages; they come back later.",
  });
  expect(visibilityTimeouts()).toHaveLength(2);
});

test.each<Disposition>([
  { kind: "backoff" },
  { kind: "acknowledge" },
  { kind: "at", time: NOW },
  { kind: "dead-letter" },
])("one message with %j beside it is no outage: the poller keeps its pace", async (disposition) => {
  const { answer } = await handle({ name: "a", disposition: DOWN }, { name: "b", disposition });

  expect(answer).toHaveProperty("batchItemFailures");
});

test("a bug that one message hits does not bring the others back, and its text is not logged", async () => {
  const { answer, lines } = await handle(
    { name: "hit" },
    { name: "spared", disposition: { kind: "acknowledge" } },
  );

  expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: "sqs-hit" }] });
  expect(visibilityTimeouts()).toEqual([["handle-hit", 23]]);
  expect(lines[0]).toEqual({
    timestamp: "2026-11-29T12:00:00.000Z",
    level: "ERROR",
    message: "a delivery failed unexpectedly; it comes back later",
    code: "RangeError",
    sqsMessageId: "sqs-hit",
    requestId: "request-1",
  });
});

test.each([
  ["a receipt that SQS does not take", "ReceiptHandleIsInvalid"],
  ["SQS that does not answer", "TypeError"],
])("%s is a warning, and the answer stays the same", async (_, code) => {
  const rejected = { Id: "0", SenderFault: true, Code: code };
  const update = sqs.on(ChangeMessageVisibilityBatchCommand);
  if (code === "TypeError") update.rejects(new TypeError("unreachable"));
  else update.resolves({ Successful: [], Failed: [rejected] });

  const { answer, lines } = await handle(BAD);

  expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: "sqs-bad" }] });
  expect(lines.slice(1)).toEqual([
    {
      timestamp: "2026-11-29T12:00:00.000Z",
      level: "WARN",
      message: "could not set a visibility timeout; the queue's own applies",
      code,
      requestId: "request-1",
    },
  ]);
});

test("an answer of SQS that names no failures is no warning", async () => {
  sqs.on(ChangeMessageVisibilityBatchCommand).resolves({});

  expect((await handle(BAD)).lines).toHaveLength(1);
});

test("setting the visibility timeouts gets half of what is left of the invocation", async () => {
  const timeout = vi.spyOn(globalThis, "setTimeout");

  await handle(BAD);

  expect(timeout.mock.calls.map(([, ms]) => ms)).toEqual([30_000]); // of 60 s
  const [call] = sqs.commandCalls(ChangeMessageVisibilityBatchCommand);
  expect(call?.args).toEqual([expect.anything(), { abortSignal: expect.any(AbortSignal) }]);
});

test("a delivery has its attributes, and the root of its X-Ray trace", async () => {
  const disposition = { kind: "acknowledge" } as const;
  const root = "1-5759e988-bd862e3fe1be46a994272793";
  const messageAttributes = {
    kind: { dataType: "String", stringValue: "payment" },
    raw: { dataType: "Binary", binaryValue: "AAEC" },
  } as const;

  const { deliveries } = await handle(
    { name: "a", disposition, receiveCount: 7, messageAttributes },
    { name: "b", disposition, traceHeader: `Root=${root};Parent=3995c3f42cd8ad8;Sampled=1` },
    { name: "c", disposition, traceHeader: `Root=${root}`, messageAttributes: undefined },
    { name: "d", disposition, traceHeader: "Root=nonsense" },
  );

  expect(deliveries[0]).toStrictEqual({
    sqsMessageId: "sqs-a",
    receiptHandle: "handle-a",
    body: '{"kind":"acknowledge"}',
    receiveCount: 7,
    attributes: { kind: "payment" },
  });
  expect(deliveries.map(({ xRayTraceId }) => xRayTraceId)).toEqual([
    undefined,
    root,
    root,
    undefined,
  ]);
});
