// The table and Stripe are hand-written fakes, one answer each.

import type { SQSClient } from "@aws-sdk/client-sqs";
import { expect, test } from "vitest";

import type { LogLine } from "../../../lib/lambda/emf.ts";
import { createPaymentHandler, dispositionOf } from "../../../lib/lambda/payment-handler.ts";
import type { Records } from "../../../lib/payments/claim.ts";
import type { DeliveryResult } from "../../../lib/payments/delivery-result.ts";
import type { ChargeAnswer } from "../../../lib/payments/protocol.ts";
import type { AttemptError, IdempotencyRecord } from "../../../lib/payments/record.ts";
import { CONTEXT, sqsEvent } from "../../support/sqs-event.ts";
import type { Sent } from "../../support/sqs-event.ts";
import { WORKER_TIMINGS } from "../../support/timings.ts";
import { payment } from "../../support/worker.ts";

const client = { send: async () => ({}) } as unknown as SQSClient;

const NOW = Date.parse("2026-11-29T12:00:00Z");
const PAID = { result: "succeeded", paymentIntentId: "pi_1" } as const;
const SUCCEEDED: ChargeAnswer = { kind: "outcome", outcome: PAID };
const failed = (kind: AttemptError["kind"]): ChargeAnswer => ({ kind: "error", error: { kind } });

const body = (id: string, changes: object = {}) => JSON.stringify(payment({ id, ...changes }));

type Services = Partial<Records> & {
  /** What is in the table under an id. */
  existing?: Record<string, Partial<IdempotencyRecord>>;
  answers?: Record<string, ChargeAnswer>;
};

async function handle({ existing = {}, answers = {}, ...records }: Services, ...messages: Sent[]) {
  const lines: LogLine[] = [];
  const handler = createPaymentHandler({
    records: {
      async claim(record) {
        const found = existing[record.messageId];
        return found && { ...record, owner: "another", ...found };
      },
      takeOver: async () => undefined,
      complete: async () => true,
      release: async () => {},
      ...records,
    },
    charges: {
      create: async (_, { idempotencyKey }) => answers[idempotencyKey] ?? SUCCEEDED,
      find: async () => ({ kind: "none" }),
    },
    timings: WORKER_TIMINGS,
    queue: { client, url: "https://sqs.us-east-1.amazonaws.com/123456789012/payments" },
    functionName: "payment-worker",
    now: () => NOW,
    newOwner: () => "owner",
    random: () => 0.5,
    write: (line) => lines.push(line),
  });
  const answer = await handler(sqsEvent(...messages), CONTEXT).catch((error: unknown) => error);
  return { answer, lines };
}

test.each<[DeliveryResult, ReturnType<typeof dispositionOf>]>([
  [{ decision: "completed", outcome: PAID }, { kind: "acknowledge" }],
  [{ decision: "duplicate", outcome: PAID }, { kind: "acknowledge" }],
  [{ decision: "invalid", violation: { field: "a", rule: "amount" } }, { kind: "dead-letter" }],
  [{ decision: "conflict" }, { kind: "dead-letter" }],
  [{ decision: "rejected", error: { kind: "stripe_rejected" } }, { kind: "dead-letter" }],
  [
    { decision: "in_progress", leaseExpiresAt: 1_795_953 },
    { kind: "at", time: 1_795_953 },
  ],
  [{ decision: "lease_lost" }, { kind: "backoff" }],
  [{ decision: "not_started" }, { kind: "backoff" }],
])("%j is the disposition %j for SQS", (result, disposition) => {
  expect(dispositionOf(result)).toEqual(disposition);
});

test("only what every message needs counts as unavailable", () => {
  const unavailable = (kind: AttemptError["kind"]) =>
    dispositionOf({ decision: "transient", error: { kind } });
  for (const service of [
    "stripe_unavailable",
    "stripe_rate_limited",
    "stripe_configuration",
    "table_unavailable",
  ] as const)
    expect(unavailable(service)).toEqual({ kind: "backoff", unavailable: true });
  for (const own of ["stripe_key_in_use", "stripe_lookup", "deadline", "unexpected"] as const)
    expect(unavailable(own)).toEqual({ kind: "backoff", unavailable: false });
});

test("BabelQueue's attribute decides, before its body, whether a message is read", async () => {
  const sent = (name: string, stringValue: string): Sent => ({
    name,
    body: body(name),
    messageAttributes: { "bq-schema-version": { stringValue, dataType: "Number" } },
  });

  const { lines } = await handle({}, sent("known", "1"), sent("later", "2"));

  expect(lines).toMatchObject([
    { decision: "completed", messageId: "known" },
    { decision: "invalid", rule: "schema_version", field: "bq-schema-version" },
  ]);
});

test("an error that nobody planned is transient, and its text is not logged", async () => {
  const complete = async ({ messageId }: { messageId: string }) => {
    if (messageId === "hit") throw new TypeError("value 4242424242424242 is not a function");
    return true;
  };

  const { lines } = await handle(
    { complete },
    { name: "hit", body: body("hit") },
    { name: "spared", body: body("spared") },
  );

  expect(lines).toMatchObject([
    { decision: "transient", kind: "unexpected", code: "TypeError" },
    { decision: "completed" },
  ]);
  expect(JSON.stringify(lines)).not.toContain("4242424242424242");
});

test("a copy in the batch is a duplicate of a charge, and no takeover of its own", async () => {
  const copies = (id: string) =>
    ["1", "2"].map((name) => ({ name: `${id}-${name}`, body: body(id), receiveCount: 2 }));

  const { lines } = await handle(
    {
      existing: { failing: { leaseExpiresAt: 0 } },
      answers: { failing: failed("stripe_unavailable") },
    },
    ...copies("charged"),
    ...copies("failing"),
  );

  expect(lines).toMatchObject([
    { decision: "completed", claimMs: 0 },
    { decision: "duplicate", outcome: "succeeded" },
    { decision: "transient", takeover: true, attempt: 2 },
    { decision: "transient", takeover: false, attempt: 2 },
  ]);
  expect(lines[1]).toMatchObject({ claimMs: undefined });
});

test("an invalid message is reported by its id where that was readable", async () => {
  const { lines } = await handle(
    {},
    { name: "a", body: body("order-1", { amount: 0 }) },
    { name: "b", body: "{}" },
  );

  expect(lines.map(({ messageId }) => messageId)).toEqual(["order-1", undefined]);
});

test("a line carries the sender's trace: from the envelope, else the one that SQS carries beside it", async () => {
  const root = "1-5759e988-bd862e3fe1be46a994272793";
  const traceHeader = `Root=${root};Parent=3995c3f42cd8ad8;Sampled=1`;
  const enveloped = {
    job: "payments",
    trace_id: "trace-1",
    data: { amount: 1200, currency: "eur", customer: "cus_ada", paymentMethod: "pm_card_visa" },
    meta: { id: "b", schema_version: 1, created_at: NOW },
    attempts: 0,
  };

  const { lines } = await handle(
    {},
    { name: "a", traceHeader, body: body("a") },
    { name: "b", traceHeader, body: JSON.stringify(enveloped) },
    { name: "c", traceHeader, body: "{}" },
    { name: "d", body: body("d") },
  );

  expect(lines.map(({ traceId }) => traceId)).toEqual([root, "trace-1", root, undefined]);
});
