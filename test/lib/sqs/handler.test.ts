// With mocked clients: what the handler answers to Lambda and asks of SQS. The table and Stripe are
// hand-written fakes, one answer each.

import { ChangeMessageVisibilityBatchCommand, SQSClient } from "@aws-sdk/client-sqs";
import type { SQSEvent } from "aws-lambda";
import { mockClient } from "aws-sdk-client-mock";
import { beforeEach, expect, test, vi } from "vitest";

import type { LogLine } from "../../../lib/lambda/payment-log.ts";
import type { Records } from "../../../lib/payments/claim.ts";
import type { ChargeAnswer, Charges } from "../../../lib/payments/protocol.ts";
import type { IdempotencyRecord } from "../../../lib/payments/record.ts";
import { sqsHandler } from "../../../lib/sqs/handler.ts";
import { WORKER_TIMINGS } from "../../support/timings.ts";

const client = new SQSClient({ region: "us-east-1" });
const sqs = mockClient(client);
beforeEach(() => {
  sqs.reset();
  sqs.on(ChangeMessageVisibilityBatchCommand).resolves({ Successful: [], Failed: [] });
});

const NOW = Date.parse("2026-11-29T12:00:00Z");
const SUCCEEDED: ChargeAnswer = {
  kind: "outcome",
  outcome: { result: "succeeded", paymentIntentId: "pi_1" },
};
const DOWN: ChargeAnswer = { kind: "error", error: { kind: "stripe_unavailable" } };

/** A handler whose table holds `existing` for an id and nothing else, and whose Stripe answers as told. */
function prepare(
  answers: Record<string, ChargeAnswer> = {},
  existing: Record<string, Partial<IdempotencyRecord>> = {},
) {
  const lines: LogLine[] = [];
  const records: Records = {
    claim: async (record) => {
      const held = existing[record.messageId];
      return held && { ...record, owner: "another", ...held };
    },
    takeOver: async () => undefined,
    complete: async () => true,
    release: async () => {},
  };
  const charges: Charges = {
    create: async (_params, { idempotencyKey }) => answers[idempotencyKey] ?? SUCCEEDED,
    find: async () => ({ kind: "none" }),
  };
  const handler = sqsHandler({
    records,
    charges,
    timings: WORKER_TIMINGS,
    queue: { client, url: "https://sqs.us-east-1.amazonaws.com/123456789012/payments" },
    functionName: "payment-worker",
    now: () => NOW,
    newOwner: () => "owner",
    random: () => 0.5,
    write: (line) => lines.push(line),
  });
  const context = { awsRequestId: "request-1", getRemainingTimeInMillis: () => 60_000 };
  return { lines, handle: (event: SQSEvent) => handler(event, context) };
}

type Sent = {
  id: string;
  receiveCount?: number;
  body?: string;
  traceHeader?: string;
  schemaVersion?: string;
};

function event(...messages: Sent[]): SQSEvent {
  return {
    Records: messages.map(({ id, receiveCount = 1, body, traceHeader, schemaVersion }) => ({
      messageId: `sqs-${id}`,
      receiptHandle: `handle-${id}`,
      body:
        body ??
        JSON.stringify({
          id,
          createdAt: "2026-11-29T11:59:00Z",
          amount: 1200,
          currency: "eur",
          customer: "cus_ada",
          paymentMethod: "pm_card_visa",
        }),
      attributes: {
        ApproximateReceiveCount: String(receiveCount),
        SentTimestamp: "1795953540000",
        SenderId: "sender",
        ApproximateFirstReceiveTimestamp: "1795953540000",
        AWSTraceHeader: traceHeader,
      },
      messageAttributes: schemaVersion
        ? { "bq-schema-version": { dataType: "Number", stringValue: schemaVersion } }
        : {},
      md5OfBody: "",
      eventSource: "aws:sqs",
      eventSourceARN: "arn:aws:sqs:us-east-1:123456789012:payments",
      awsRegion: "us-east-1",
    })),
  };
}

const delays = () =>
  sqs
    .commandCalls(ChangeMessageVisibilityBatchCommand)
    .flatMap((call) => call.args[0].input.Entries ?? [])
    .map(({ ReceiptHandle, VisibilityTimeout }) => [ReceiptHandle, VisibilityTimeout]);

test("a batch that went well answers with no failures and asks nothing of SQS", async () => {
  const { handle } = prepare();

  expect(await handle(event({ id: "a" }, { id: "b" }))).toEqual({ batchItemFailures: [] });
  expect(sqs.calls()).toHaveLength(0);
});

test("an empty batch is no failure", async () => {
  expect(await prepare().handle(event())).toEqual({ batchItemFailures: [] });
});

test("each failed message gets its own visibility", async () => {
  const { handle } = prepare(
    { down: DOWN, rejected: { kind: "error", error: { kind: "stripe_rejected" } } },
    { held: { leaseExpiresAt: NOW + 41_001 } },
  );

  const response = await handle(
    event(
      { id: "fine" },
      { id: "down", receiveCount: 3 }, // between 60 and 120 s, random 0.5: 90 s
      { id: "held" },
      { id: "rejected" },
      { id: "bad", body: "{}" },
    ),
  );

  expect(response.batchItemFailures).toEqual([
    { itemIdentifier: "sqs-down" },
    { itemIdentifier: "sqs-held" },
    { itemIdentifier: "sqs-rejected" },
    { itemIdentifier: "sqs-bad" },
  ]);
  expect(delays()).toEqual([
    ["handle-down", 90],
    ["handle-held", 42],
    ["handle-rejected", 0],
    ["handle-bad", 0],
  ]);
});

test("more than ten failures take several requests, because SQS takes ten in one", async () => {
  const ids = Array.from({ length: 23 }, (_, i) => `bad-${i}`);

  await prepare().handle(event(...ids.map((id) => ({ id, body: "{}" }))));

  const sizes = sqs
    .commandCalls(ChangeMessageVisibilityBatchCommand)
    .map((call) => call.args[0].input.Entries?.length);
  expect(sizes).toEqual([10, 10, 3]);
});

test("when Stripe is unavailable for every message the visibilities are set and the handler throws", async () => {
  const { handle } = prepare({
    a: DOWN,
    b: { kind: "error", error: { kind: "stripe_rate_limited" } },
  });

  await expect(handle(event({ id: "a" }, { id: "b" }))).rejects.toThrow(
    "Stripe or DynamoDB was unavailable for all 2 messages; they come back later.",
  );
  expect(delays()).toHaveLength(2);
});

test.each(["stripe_key_in_use", "deadline", "unexpected"] as const)(
  "%s for every message is no outage: the poller keeps its pace",
  async (kind) => {
    const { handle } = prepare({ a: { kind: "error", error: { kind } } });

    expect(await handle(event({ id: "a" }))).toEqual({
      batchItemFailures: [{ itemIdentifier: "sqs-a" }],
    });
  },
);

test("visibilities that could not be set are a warning, and the answer stays the same", async () => {
  sqs.on(ChangeMessageVisibilityBatchCommand).rejects(new Error("unreachable"));
  const { handle, lines } = prepare();

  const response = await handle(event({ id: "bad", body: "{}" }));

  expect(response.batchItemFailures).toEqual([{ itemIdentifier: "sqs-bad" }]);
  expect(lines.at(-1)).toMatchObject({
    level: "WARN",
    message: "could not set a visibility; the queue's own timeout applies",
  });
});

test("a visibility that SQS refused is a warning with its code", async () => {
  sqs.on(ChangeMessageVisibilityBatchCommand).resolves({
    Successful: [],
    Failed: [{ Id: "0", SenderFault: true, Code: "ReceiptHandleIsInvalid" }],
  });
  const { handle, lines } = prepare();

  await handle(event({ id: "bad", body: "{}" }));

  expect(lines.at(-1)).toMatchObject({ level: "WARN", code: "ReceiptHandleIsInvalid" });
});

test("a line carries the sender's trace: from the envelope, else the one that SQS carries beside it", async () => {
  const { handle, lines } = prepare();
  const root = "1-5759e988-bd862e3fe1be46a994272793";
  const traceHeader = `Root=${root};Parent=3995c3f42cd8ad8;Sampled=1`;
  const enveloped = {
    job: "payments",
    trace_id: "trace-1",
    data: { amount: 1200, currency: "eur", customer: "cus_ada", paymentMethod: "pm_card_visa" },
    meta: { id: "b", schema_version: 1, created_at: NOW },
    attempts: 0,
  };

  await handle(
    event(
      { id: "a", traceHeader },
      { id: "b", traceHeader, body: JSON.stringify(enveloped) },
      { id: "c", traceHeader, body: "{}" },
      { id: "d", traceHeader: `Root=${root}` },
      { id: "e", traceHeader: "Root=nonsense" },
      { id: "e" },
    ),
  );

  expect(lines.map((line) => line["traceId"])).toEqual([
    root,
    "trace-1",
    root,
    root,
    undefined,
    undefined,
  ]);
});

test("a BabelQueue version that the worker does not know is refused, whatever the body says", async () => {
  const { handle, lines } = prepare();

  const response = await handle(
    event({ id: "known", schemaVersion: "1" }, { id: "later", schemaVersion: "2" }),
  );

  expect(response.batchItemFailures).toEqual([{ itemIdentifier: "sqs-later" }]);
  expect(lines.map(({ decision, field, rule }) => [decision, field, rule])).toEqual([
    ["completed", undefined, undefined],
    ["invalid", "bq-schema-version", "schema_version"],
  ]);
});

test("setting the visibilities gets half of what is left of the invocation", async () => {
  const timeout = vi.spyOn(AbortSignal, "timeout");

  await prepare().handle(event({ id: "bad", body: "{}" }));

  expect(timeout.mock.calls).toEqual([[30_000]]); // of 60 s
  const [call] = sqs.commandCalls(ChangeMessageVisibilityBatchCommand);
  expect(call?.args).toEqual([expect.anything(), { abortSignal: timeout.mock.results[0]?.value }]);
});

test("an answer of SQS that names no failures is no warning", async () => {
  sqs.on(ChangeMessageVisibilityBatchCommand).resolves({});
  const { handle, lines } = prepare();

  await handle(event({ id: "bad", body: "{}" }));

  expect(lines.map(({ decision }) => decision)).toEqual(["invalid"]);
});
