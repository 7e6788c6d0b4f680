// With fakes of Stripe, the table and the bus: what each decision is in the log, and for SQS.

import { expect, test } from "vitest";

import type { LogLine } from "../../../lib/lambda/emf.ts";
import { createFinalizerHandler } from "../../../lib/lambda/finalizer-handler.ts";
import type { PaymentNotice } from "../../../lib/outcomes/notice.ts";
import { TableError } from "../../../lib/payments/claim.ts";
import type { PaymentState, RecordedOutcomes } from "../../../lib/payments/finalize.ts";
import type { IdempotencyRecord, Outcome } from "../../../lib/payments/record.ts";
import type { Payments } from "../../../lib/stripe/payments.ts";
import { CONTEXT, sqsEvent, visibilityClient } from "../../support/sqs-event.ts";
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
  const { client, timeouts } = visibilityClient();
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
    queue: { client, url: "http://queue" },
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
const OF_REFUND = { ...EVENT, stripeEventType: "charge.refunded" };
const LIVE = event("payment_intent.succeeded", { id: "pi_1" }, true);
const UNAVAILABLE = { error: { kind: "stripe_unavailable", code: "http_503" } } as const;
const FOREIGN = { foreign: true } as const;

const CONFIGURATION = { error: { kind: "stripe_configuration" } } as const;
const CUSTOMER = event("customer.created");
const recorded = (result: "succeeded" | "processing" | "canceled", paymentIntentId = "pi_1") => ({
  standing: { outcome: { result, paymentIntentId } },
});

/** What answers an event, what becomes of its message, and the line: its start, and its other fields. */
type Row = [Services, unknown, string | number, `${string} ${string}: ${string}`, object];

const ROWS: Row[] = [
  // An event of a payment that succeeded, by what the table answers.
  ...(
    [
      [
        {},
        "acknowledged",
        "INFO advanced: the payment is now succeeded",
        { outcome: "succeeded", Advanced: 1 },
      ],
      [
        recorded("succeeded"),
        "acknowledged",
        "INFO duplicate: duplicate: the outcome is succeeded already",
        { outcome: "succeeded", Duplicate: 1 },
      ],
      [
        { standing: {} },
        23,
        "INFO in_progress: too early: the worker has not recorded an outcome yet",
        { InProgress: 1 },
      ],
      [
        { standing: "none" },
        "acknowledged",
        "WARN unmatched: a PaymentIntent of ours without a record: expired, lost, or another deployment's",
        { Unmatched: 1 },
      ],
      [
        recorded("processing", "pi_0"),
        "acknowledged",
        "ERROR double_charge: double charge: a second PaymentIntent carries this message id; refund one of them",
        { recorded: "pi_0", found: "pi_1", DoubleCharge: 1 },
      ],
      [
        recorded("canceled"),
        0,
        "ERROR contradiction: Stripe says succeeded, and the record says canceled for good",
        { recorded: "canceled", found: "succeeded", Contradiction: 1 },
      ],
      [
        { retrieved: stateOf(FAILED) },
        "acknowledged",
        "INFO advanced: the payment is now failed",
        { outcome: "failed", code: "debit_not_authorized", Advanced: 1 },
      ],
      [
        // A decline that was recorded without its PaymentIntent's id.
        { retrieved: stateOf(FAILED), standing: { outcome: { result: "declined", code: "lost" } } },
        "acknowledged",
        "INFO duplicate: duplicate: the outcome is declined already",
        { outcome: "declined", code: "lost", Duplicate: 1 },
      ],
    ] as const
  ).map(([services, disposition, line, more]): Row => [
    services,
    SUCCEEDED,
    disposition,
    line,
    { ...EVENT, messageId: "order-1", ...more },
  ]),
  ...[SUCCEEDED, REFUNDED].flatMap((sent): Row[] => {
    const of = { ...EVENT, stripeEventType: sent.type };
    return [
      [
        { retrieved: FOREIGN, refunded: FOREIGN },
        sent,
        "acknowledged",
        "INFO foreign: another integration's PaymentIntent: it carries no message id",
        { ...of, Foreign: 1 },
      ],
      [
        { retrieved: UNAVAILABLE, refunded: UNAVAILABLE },
        sent,
        "Unavailable",
        "WARN transient: not finalized yet: stripe_unavailable",
        { ...of, ...UNAVAILABLE.error, TransientFailure: 1 },
      ],
    ];
  }),
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
    `WARN transient: not finalized yet: ${kind}`,
    { ...EVENT, kind, code, TransientFailure: 1 },
  ]),
  [
    { retrieved: CONFIGURATION },
    SUCCEEDED,
    "Unavailable",
    "ERROR transient: not finalized yet: stripe_configuration",
    { ...EVENT, ...CONFIGURATION.error, TransientFailure: 1, ConfigurationError: 1 },
  ],
  [
    {},
    CUSTOMER,
    "acknowledged",
    "INFO ignored: an event that changes nothing here",
    { stripeEventId: "evt_1", stripeEventType: "customer.created" },
  ],
  [
    {},
    "hello",
    0,
    "ERROR invalid: the body is not an event of Stripe's",
    { reason: "not_an_event", Invalid: 1 },
  ],
  [
    {},
    LIVE,
    0,
    "ERROR invalid: an event of the other Stripe mode",
    { ...EVENT, reason: "mode", Invalid: 1 },
  ],
  [
    { bus: ["ThrottlingException"] },
    REFUNDED,
    23,
    "WARN transient: not finalized yet: unexpected",
    { ...OF_REFUND, kind: "unexpected", code: "ThrottlingException", TransientFailure: 1 },
  ],
  [
    {}, // without a bus
    REFUNDED,
    "acknowledged",
    "INFO reported: reported payment.refunded",
    { ...OF_REFUND, eventId: "order-1:refunded:200", Refunded: 1 },
  ],
  [
    { bus: [undefined] },
    DISPUTED,
    "acknowledged",
    "WARN reported: reported payment.disputed",
    {
      ...EVENT,
      stripeEventType: DISPUTED.type,
      eventId: "order-1:disputed:du_1:created",
      Disputed: 1,
    },
  ],
];

test.each(ROWS)("%j and an event: %j: %s, %s", async (services, sent, disposition, start, more) => {
  const handled = await handle(services, sent);

  expect(handled.disposition).toBe(disposition);
  const { level, decision, message, _aws, ...line } = handled.lines[0] ?? {};
  expect(`${String(level)} ${String(decision)}: ${String(message)}`).toBe(start);
  const { CloudWatchMetrics } = _aws as { CloudWatchMetrics: { Metrics: object[] }[] };
  expect(CloudWatchMetrics.flatMap(({ Metrics }) => Metrics)).toEqual(
    Object.entries(more)
      .filter(([, value]) => value === 1)
      .map(([Name]) => ({ Name, Unit: "Count" })),
  );
  expect(line).toEqual({
    timestamp: "2026-11-30T12:00:00.000Z",
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
