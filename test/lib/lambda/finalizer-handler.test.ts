// With fakes of Stripe, the table and the bus: what each decision is in the log, and for SQS.

import type { ChangeMessageVisibilityBatchCommand, SQSClient } from "@aws-sdk/client-sqs";
import { expect, test } from "vitest";

import type { LogLine } from "../../../lib/lambda/emf.ts";
import { createFinalizerHandler } from "../../../lib/lambda/finalizer-handler.ts";
import type { PaymentNotice } from "../../../lib/outcomes/notice.ts";
import { TableError } from "../../../lib/payments/claim.ts";
import type { PaymentState, RecordedOutcomes } from "../../../lib/payments/finalize.ts";
import type { IdempotencyRecord, Outcome } from "../../../lib/payments/record.ts";
import type { Payments } from "../../../lib/stripe/payments.ts";
import { CONTEXT, sqsEvent } from "../../support/sqs-event.ts";
import { WORKER_TIMINGS } from "../../support/timings.ts";

const NOW = Date.parse("2026-11-30T12:00:00Z");

const PAID = { result: "succeeded", paymentIntentId: "pi_1" } as const;
const FAILED = { result: "failed", paymentIntentId: "pi_1", code: "debit_not_authorized" } as const;
const stateOf = (outcome: Outcome): { found: PaymentState } => ({
  found: {
    paymentIntentId: "pi_1",
    messageId: "order-1",
    outcome,
    amount: 1250,
    currency: "eur",
  },
});
const REFUND = {
  found: { messageId: "order-1", paymentIntentId: "pi_1", amountRefunded: 200, currency: "eur" },
};

const event = (type: string, object: object = { id: "pi_1" }, livemode = false) => ({
  id: "evt_1",
  object: "event",
  type,
  livemode,
  data: { object },
});
const SUCCEEDED = event("payment_intent.succeeded");
const REFUNDED = event("charge.refunded", { id: "ch_1", payment_intent: "pi_1" });
const DISPUTED = event("charge.dispute.created", { id: "du_1", payment_intent: "pi_1" });

type Services = {
  retrieved?: Awaited<ReturnType<Payments["retrieve"]>>;
  refunded?: Awaited<ReturnType<Payments["refunded"]>>;
  /** What the table answers; without it, the record moves. */
  standing?: Partial<IdempotencyRecord> | "none";
  throws?: unknown;
  /** What the bus answers; without it, there is no bus. */
  bus?: (string | undefined)[];
  mode?: "live" | "test";
};

async function handle(services: Services, ...sent: unknown[]) {
  const { retrieved = stateOf(PAID), refunded = REFUND, standing, bus } = services;
  const lines: LogLine[] = [];
  const notices: PaymentNotice[] = [];
  const asked: unknown[][] = [];
  const timeouts: (number | undefined)[] = [];
  const client = {
    async send({ input }: ChangeMessageVisibilityBatchCommand) {
      timeouts.push(...(input.Entries ?? []).map((entry) => entry.VisibilityTimeout));
      return {};
    },
  };
  const advance: RecordedOutcomes["advance"] = async (...args) => {
    asked.push(["advance", ...args]);
    if ("throws" in services) throw services.throws;
    if (standing === undefined) return { advanced: true };
    return {
      advanced: false,
      ...(standing !== "none" && { standing: standing as IdempotencyRecord }),
    };
  };
  const handler = createFinalizerHandler({
    payments: {
      async retrieve(...args) {
        asked.push(["retrieve", ...args]);
        return retrieved;
      },
      async refunded(...args) {
        asked.push(["refunded", ...args]);
        return refunded;
      },
    },
    records: { advance },
    ...(bus && {
      bus: {
        async publish(events: readonly unknown[], timeoutMs: number) {
          asked.push(["publish", timeoutMs]);
          notices.push(...(events as PaymentNotice[]));
          return bus;
        },
      },
    }),
    source: "urn:payment-worker:test",
    mode: services.mode ?? "test",
    queue: { client: client as unknown as SQSClient, url: "http://queue" },
    functionName: "payment-finalizer",
    timings: WORKER_TIMINGS,
    now: () => NOW,
    random: () => 0.5,
    write: (line) => lines.push(line),
  });
  const bodies = sent.map((one, index) => ({ name: `${index}`, body: JSON.stringify(one) }));
  const answer = await handler(sqsEvent(...bodies), CONTEXT).catch(({ name }: Error) => name);
  const disposition = typeof answer === "string" ? answer : (timeouts[0] ?? "acknowledged");
  // As they are written: what is undefined is left out.
  return { disposition, lines: JSON.parse(JSON.stringify(lines)) as LogLine[], notices, asked };
}

const EVENT = {
  stripeEventId: "evt_1",
  stripeEventType: "payment_intent.succeeded",
  paymentIntentId: "pi_1",
};
const OURS = { ...EVENT, messageId: "order-1" };
const OF_REFUND = { ...EVENT, stripeEventType: "charge.refunded" };
const LIVE = event("payment_intent.succeeded", { id: "pi_1" }, true);
const UNAVAILABLE = { error: { kind: "stripe_unavailable", code: "http_503" } } as const;
const FOREIGN = { foreign: true } as const;
const ABSENT = "a PaymentIntent of ours without a record: expired, lost, or another deployment's";
const TWICE = "double charge: a second PaymentIntent carries this message id; refund one of them";

/** The level and decision of the line, its message, and its other fields, of which each 1 is a metric. */
type Row = [Services, unknown, string | number, string, string, object];

test.each<Row>([
  [
    {},
    SUCCEEDED,
    "acknowledged",
    "INFO advanced",
    "the payment is now succeeded",
    { ...OURS, outcome: "succeeded", Advanced: 1 },
  ],
  [
    { retrieved: stateOf(FAILED) },
    SUCCEEDED,
    "acknowledged",
    "INFO advanced",
    "the payment is now failed",
    { ...OURS, outcome: "failed", code: "debit_not_authorized", Advanced: 1 },
  ],
  [
    { standing: { outcome: PAID } },
    SUCCEEDED,
    "acknowledged",
    "INFO duplicate",
    "duplicate: the outcome is succeeded already",
    { ...OURS, outcome: "succeeded", Duplicate: 1 },
  ],
  [
    // A decline that was recorded without its PaymentIntent's id.
    { retrieved: stateOf(FAILED), standing: { outcome: { result: "declined", code: "lost" } } },
    SUCCEEDED,
    "acknowledged",
    "INFO duplicate",
    "duplicate: the outcome is declined already",
    { ...OURS, outcome: "declined", code: "lost", Duplicate: 1 },
  ],
  [
    { standing: {} },
    SUCCEEDED,
    23,
    "INFO in_progress",
    "too early: the worker has not recorded an outcome yet",
    { ...OURS, InProgress: 1 },
  ],
  [
    { standing: "none" },
    SUCCEEDED,
    "acknowledged",
    "WARN unmatched",
    ABSENT,
    { ...OURS, Unmatched: 1 },
  ],
  [
    { standing: { outcome: { result: "processing", paymentIntentId: "pi_0" } } },
    SUCCEEDED,
    "acknowledged",
    "ERROR double_charge",
    TWICE,
    { ...OURS, recorded: "pi_0", found: "pi_1", DoubleCharge: 1 },
  ],
  [
    { standing: { outcome: { result: "canceled", paymentIntentId: "pi_1" } } },
    SUCCEEDED,
    0,
    "ERROR contradiction",
    "Stripe says succeeded, and the record says canceled for good",
    { ...OURS, recorded: "canceled", found: "succeeded", Contradiction: 1 },
  ],
  ...[SUCCEEDED, REFUNDED].flatMap((sent): Row[] => [
    [
      { retrieved: FOREIGN, refunded: FOREIGN },
      sent,
      "acknowledged",
      "INFO foreign",
      "another integration's PaymentIntent: it carries no message id",
      { ...EVENT, stripeEventType: sent.type, Foreign: 1 },
    ],
    [
      { retrieved: UNAVAILABLE, refunded: UNAVAILABLE },
      sent,
      "Unavailable",
      "WARN transient",
      "not finalized yet: stripe_unavailable",
      { ...EVENT, stripeEventType: sent.type, ...UNAVAILABLE.error, TransientFailure: 1 },
    ],
  ]),
  [
    {},
    event("customer.created"),
    "acknowledged",
    "INFO ignored",
    "an event that changes nothing here",
    { stripeEventId: "evt_1", stripeEventType: "customer.created" },
  ],
  [
    {},
    "hello",
    0,
    "ERROR invalid",
    "the body is not an event of Stripe's",
    { reason: "not_an_event", Invalid: 1 },
  ],
  [
    {},
    LIVE,
    0,
    "ERROR invalid",
    "an event of the other Stripe mode",
    { ...EVENT, reason: "mode", Invalid: 1 },
  ],
  [
    { retrieved: { error: { kind: "stripe_configuration" } } },
    SUCCEEDED,
    "Unavailable",
    "ERROR transient",
    "not finalized yet: stripe_configuration",
    { ...EVENT, kind: "stripe_configuration", TransientFailure: 1, ConfigurationError: 1 },
  ],
  ...(
    [
      [
        new TableError("TimeoutError", undefined),
        "Unavailable",
        "table_unavailable",
        "TimeoutError",
      ],
      [new TypeError("4242"), 23, "unexpected", "TypeError"],
      ["4242", 23, "unexpected", "string"],
    ] as const
  ).map(([throws, disposition, kind, code]): Row => [
    { throws },
    SUCCEEDED,
    disposition,
    "WARN transient",
    `not finalized yet: ${kind}`,
    { ...EVENT, kind, code, TransientFailure: 1 },
  ]),
  [
    { bus: ["ThrottlingException"] },
    REFUNDED,
    23,
    "WARN transient",
    "not finalized yet: unexpected",
    { ...OF_REFUND, kind: "unexpected", code: "ThrottlingException", TransientFailure: 1 },
  ],
  [
    {}, // without a bus
    REFUNDED,
    "acknowledged",
    "INFO reported",
    "reported payment.refunded",
    { ...OF_REFUND, eventId: "order-1:refunded:200", Refunded: 1 },
  ],
  [
    { bus: [undefined] },
    DISPUTED,
    "acknowledged",
    "WARN reported",
    "reported payment.disputed",
    {
      ...EVENT,
      stripeEventType: "charge.dispute.created",
      eventId: "order-1:disputed:du_1:created",
      Disputed: 1,
    },
  ],
])("%j and an event: %j: %s, %s: %s", async (services, sent, disposition, start, message, more) => {
  const handled = await handle(services, sent);

  expect(handled.disposition).toBe(disposition);
  const { _aws, ...line } = handled.lines[0] as {
    _aws: { CloudWatchMetrics: { Metrics: object[] }[] };
  };
  expect(_aws.CloudWatchMetrics.flatMap(({ Metrics }) => Metrics)).toEqual(
    Object.entries(more)
      .filter(([, value]) => value === 1)
      .map(([Name]) => ({ Name, Unit: "Count" })),
  );
  const [level, decision] = start.split(" ");
  expect(line).toEqual({
    timestamp: "2026-11-30T12:00:00.000Z",
    level,
    message,
    decision,
    receiveCount: 1,
    sqsMessageId: "sqs-0",
    requestId: "request-1",
    FunctionName: "payment-finalizer",
    ...more,
  });
  expect(handled.lines).toHaveLength(1);
});

test("a transient failure is counted by its kind too", async () => {
  const { lines } = await handle({ retrieved: UNAVAILABLE }, SUCCEEDED);

  expect(lines[0]).toHaveProperty(
    ["_aws", "CloudWatchMetrics", 0, "Dimensions"],
    [["FunctionName"], ["FunctionName", "kind"]],
  );
});

test.each(["live", "test"] as const)("in %s mode, only its events count", async (mode) => {
  const sent = [true, false].map((livemode) => ({ ...SUCCEEDED, livemode }));
  const { lines } = await handle({ mode }, ...sent);

  const [live, test] = lines.map(({ decision }) => decision);
  expect({ live, test }).toEqual({ live: "invalid", test: "invalid", [mode]: "advanced" });
});

test("a dispute is reported on the bus, in the time of a call", async () => {
  const { notices, asked } = await handle({ bus: [undefined] }, DISPUTED);

  expect(notices).toEqual([
    {
      specversion: "1.0",
      id: "order-1:disputed:du_1:created",
      source: "urn:payment-worker:test",
      type: "payment.disputed",
      subject: "order-1",
      datacontenttype: "application/json",
      data: {
        messageId: "order-1",
        paymentIntentId: "pi_1",
        disputeId: "du_1",
        phase: "created",
      },
    },
  ]);
  expect(asked).toEqual([
    ["refunded", "pi_1", 20_000],
    ["publish", 3_000],
  ]);
});

test("events of one payment are one question, and each refund or dispute is one of its own", async () => {
  const another = { ...REFUNDED, id: "evt_2" };
  const { asked } = await handle({}, SUCCEEDED, SUCCEEDED, REFUNDED, REFUNDED, another);

  expect(asked).toEqual([
    ["retrieve", "pi_1", 20_000],
    ["advance", "order-1", stateOf(PAID).found, NOW, 3_000],
    ["refunded", "pi_1", 20_000],
    ["refunded", "pi_1", 20_000],
  ]);
});
