// docs/observability.md against what lib/lambda/payment-log.ts writes, and the other functions' logs.
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import type { EventResult } from "../../lib/lambda/event-result.ts";
import { finalizerLine } from "../../lib/lambda/finalizer-log.ts";
import { paymentLine } from "../../lib/lambda/payment-log.ts";
import type { Times } from "../../lib/lambda/timed.ts";
import type { Rule } from "../../lib/message/rules.ts";
import { disputeNotice } from "../../lib/outcomes/notice.ts";
import type { Attempt, DeliveryResult } from "../../lib/payments/delivery-result.ts";
import type { AttemptError, Outcome } from "../../lib/payments/record.ts";
import type { StripeEvent } from "../../lib/payments/stripe-event.ts";
import type { Delivery } from "../../lib/sqs/delivery.ts";
import { runQuery } from "./logs-insights.ts";
import type { Row } from "./logs-insights.ts";

const read = (file: string) => readFileSync(join(import.meta.dirname, "../..", file), "utf8");
const PAGE = read("docs/observability.md");

const TRACE = "1-5759e988-bd862e3fe1be46a994272793";
const PAID = { result: "succeeded", paymentIntentId: "pi_1" } as const;
const DECLINED = {
  result: "declined",
  paymentIntentId: "pi_2",
  code: "card_declined",
  declineCode: "insufficient_funds",
} as const;
const TIMES = { claimMs: 4, chargeMs: 400, completeMs: 5 };

const DELIVERY: Delivery = {
  sqsMessageId: "sqs-1",
  receiptHandle: "handle",
  body: "",
  receiveCount: 1,
  attributes: {},
};

const completed = (outcome: Outcome, rest?: Attempt): DeliveryResult => ({
  decision: "completed",
  outcome,
  attempt: 1,
  ...rest,
});
const transient = (kind: AttemptError["kind"], code: string, rest?: Attempt): DeliveryResult => ({
  decision: "transient",
  attempt: 1,
  ...rest,
  error: { kind, code, ...(kind === "unexpected" && { where: "charge (index.js:1:2)" }) },
});
const invalid = (field: string, rule: Rule): DeliveryResult => ({
  decision: "invalid",
  violation: { field, rule },
});

type Sample = [
  at: string,
  messageId: string | undefined,
  result: DeliveryResult,
  rest?: { times?: Times } & Partial<Delivery>,
];

/** A morning at the worker: every decision, and a message that took three deliveries. */
const SAMPLES: Sample[] = [
  [
    "09:00:00",
    "order-1001",
    transient("stripe_unavailable", "http_503", { takeover: false, stripeRequestId: "req_503" }),
    { times: { claimMs: 4, chargeMs: 90 } },
  ],
  [
    "09:01:00",
    "order-1001",
    { decision: "in_progress", leaseExpiresAt: 0 },
    { receiveCount: 2, times: { claimMs: 3 } },
  ],
  [
    "09:02:00",
    "order-1001",
    completed(PAID, { attempt: 2, takeover: true, lookedUp: true, stripeRequestId: "req_paid" }),
    { receiveCount: 3, times: TIMES },
  ],
  ["09:03:00", "order-1001", { decision: "duplicate", outcome: PAID }, { times: { claimMs: 3 } }],
  ["09:03:30", "order-1002", completed(DECLINED), { times: { ...TIMES, chargeMs: 900 } }],
  [
    "09:06:00",
    "order-1003",
    completed({ result: "processing", paymentIntentId: "pi_3" }),
    { times: { ...TIMES, claimMs: 9, completeMs: 11 } },
  ],
  [
    "09:07:00",
    "order-1004",
    completed({ result: "requires_action", paymentIntentId: "pi_4" }),
    { times: TIMES },
  ],
  [
    "09:08:00",
    "order-1005",
    transient("stripe_unavailable", "http_503", { attempt: 12, takeover: true }),
    { receiveCount: 12 },
  ],
  ["09:08:30", "order-1006", { decision: "not_started" }, { receiveCount: 13 }],
  ["09:09:00", "order-1007", transient("stripe_configuration", "http_401")],
  ["09:09:30", "order-1008", transient("unexpected", "TypeError")],
  ["09:10:00", "order-1009", { decision: "lease_lost", attempt: 1 }],
  ["09:11:00", "order-1001", { decision: "conflict" }, { xRayTraceId: TRACE }],
  [
    "09:12:00",
    "order-1010",
    {
      decision: "rejected",
      attempt: 1,
      error: { kind: "stripe_rejected", code: "resource_missing", param: "customer" },
    },
  ],
  ["09:13:00", "order-1011", invalid("amount", "amount")],
  ["09:13:01", "order-1011", invalid("amount", "amount")],
  ["09:14:00", undefined, invalid("body", "body_json")],
  ["09:15:00", "order-1010", completed({ result: "canceled", paymentIntentId: "pi_10" })],
];

const LINES = SAMPLES.map(([at, messageId, result, { times = {}, ...rest } = {}]): Row => {
  const line = paymentLine(
    { delivery: { ...DELIVERY, ...rest }, ...(messageId && { messageId }), result, times },
    { now: Date.parse(`2026-11-29T${at}Z`), functionName: "worker", requestId: "request-1" },
  );
  return JSON.parse(JSON.stringify(line)) as Row; // as it is written
});

/** The first cells of a section's table. */
function table(heading: string, column = 0, page = PAGE): string[] {
  const [, section = ""] = page.split(`${heading}\n`);
  const [body = ""] = section.split(/\n#+ /);
  const rows = body.split("\n").filter((line) => line.startsWith("| `"));
  return rows.map((row) => row.split("|")[column + 1]?.trim().replaceAll("`", "") ?? "");
}

const metricsOf = (line: Row) =>
  (
    line["_aws"] as {
      CloudWatchMetrics: {
        Namespace: string;
        Dimensions: string[][];
        Metrics: { Name: string; Unit: string }[];
      }[];
    }
  ).CloudWatchMetrics;

test("every field of a line is in the page, and every field in the page is of a line", () => {
  const metrics = new Set(
    LINES.flatMap(metricsOf).flatMap(({ Metrics }) => Metrics.map(({ Name }) => Name)),
  );
  const fields = LINES.flatMap(Object.keys).filter((name) => !metrics.has(name));

  expect(new Set(fields)).toEqual(new Set(table("## The line")));
});

test("every decision is in the page", () => {
  const decisions = LINES.map((line) => line["decision"]);

  expect(new Set(decisions)).toEqual(new Set(table("### Decisions")));
});

test("every metric is in the page with its unit and its dimensions", () => {
  const written = LINES.flatMap(metricsOf).flatMap(({ Namespace, Dimensions, Metrics }) =>
    Metrics.map(({ Name, Unit }) => `${Namespace} ${Name} ${Unit} ${Dimensions.flat().join(" ")}`),
  );
  const names = table("## Metrics");
  const units = table("## Metrics", 1);
  const further = table("## Metrics", 2);
  const described = names.map(
    (name, row) =>
      `PaymentWorker ${name} ${units[row]} FunctionName${further[row] ? ` FunctionName ${further[row]}` : ""}`,
  );

  expect(new Set(written)).toEqual(new Set(described));
});

test("no line at INFO needs a person, and every ERROR does", () => {
  const at = (level: string) =>
    new Set(LINES.filter((line) => line["level"] === level).map((line) => line["decision"]));

  expect(at("INFO")).toEqual(new Set(["completed", "duplicate", "in_progress"]));
  expect(at("ERROR")).toEqual(new Set(["invalid", "conflict", "rejected", "transient"]));
  expect(
    LINES.filter(({ level, kind }) => level === "ERROR" && kind === "stripe_configuration"),
  ).toHaveLength(1);
});

test("every metric of the project is in the page, and no other", () => {
  const names = [...read("lib/metrics.ts").matchAll(/^ {2}\| "(\w+)"/gm)].map(([, name]) => name);
  const inPage = new Set([...table("## Metrics"), ...table("### Their metrics")]);

  // The worker has no answer of Stripe's that it would record as failed.
  expect(inPage).toEqual(new Set(names.filter((name) => name !== "Failed")));
});

const PAYMENT = { outcome: PAID };
/** How the delivery of one of Stripe's events may end: the compiler wants every decision here. */
const EVENT_RESULTS: { [D in EventResult["decision"]]: Extract<EventResult, { decision: D }> } = {
  advanced: { decision: "advanced", ...PAYMENT },
  duplicate: { decision: "duplicate", ...PAYMENT },
  in_progress: { decision: "in_progress" },
  foreign: { decision: "foreign" },
  unmatched: { decision: "unmatched" },
  double_charge: { decision: "double_charge", recorded: "pi_1", found: "pi_2" },
  contradiction: { decision: "contradiction", recorded: PAID, found: PAID },
  reported: {
    decision: "reported",
    notice: disputeNotice(
      { messageId: "order-1001", paymentIntentId: "pi_1", disputeId: "dp_1", phase: "created" },
      "urn:payment-worker:test",
    ),
  },
  ignored: { decision: "ignored" },
  invalid: { decision: "invalid", reason: "mode" },
  transient: { decision: "transient", error: { kind: "stripe_unavailable", code: "http_503" } },
};

test("every decision of the finalizer and every field of its line is in the pages", () => {
  const decisions = table(
    "What the finalizer logs, as `decision`:",
    0,
    read("docs/stripe-events.md"),
  );
  expect(new Set(decisions)).toEqual(new Set(Object.keys(EVENT_RESULTS)));

  const row = PAGE.split("\n").find((line) => line.startsWith("| `payment-finalizer` | delivery"));
  const documented = [...(row ?? "").matchAll(/`(\w+)`/g)].map(([, field]) => field);
  const common = ["timestamp", "level", "message", "requestId", "FunctionName", "_aws"];
  const event: StripeEvent = {
    eventId: "evt_1",
    type: "payment_intent.succeeded",
    livemode: false,
    about: "payment",
    paymentIntentId: "pi_1",
  };
  const declined = { decision: "advanced", outcome: DECLINED } as const;
  const written = [...Object.values(EVENT_RESULTS), declined].flatMap((result) => {
    const line = finalizerLine(
      { delivery: DELIVERY, event, result: { messageId: "order-1001", ...result } },
      { now: 0, functionName: "finalizer", requestId: "request-1" },
    );
    const json = JSON.parse(JSON.stringify(line)) as Row;
    const metrics = metricsOf(json) ?? [];
    const names = new Set(metrics.flatMap(({ Metrics }) => Metrics.map(({ Name }) => Name)));
    return Object.keys(json).filter((field) => !names.has(field));
  });
  expect(new Set([...documented, ...common])).toEqual(new Set(written));
});

const AT = "@timestamp=2026-11-29T09:";
const BIN = "bin(5m)=2026-11-29T09:";

/** What each query of the page finds in the samples: the columns of each row, in their order. */
const EXPECTED: Record<string, string[]> = {
  "What became of a message, delivery by delivery": [
    `${AT}00:00.000Z decision=transient attempt=1 receiveCount=1 kind=stripe_unavailable code=http_503 stripeRequestId=req_503`,
    `${AT}01:00.000Z decision=in_progress receiveCount=2`,
    `${AT}02:00.000Z decision=completed outcome=succeeded attempt=2 receiveCount=3 stripeRequestId=req_paid`,
    `${AT}03:00.000Z decision=duplicate outcome=succeeded receiveCount=1`,
    `${AT}11:00.000Z decision=conflict receiveCount=1`,
  ],
  "Everything in one trace": [`${AT}11:00.000Z messageId=order-1001 decision=conflict`],
  "Which delivery made a request at Stripe": [
    `${AT}00:00.000Z messageId=order-1001 decision=transient attempt=1`,
  ],
  "Payments by outcome, every five minutes": [
    `${BIN}00:00.000Z outcome=succeeded payments=1`,
    `${BIN}00:00.000Z outcome=declined payments=1`,
    `${BIN}05:00.000Z outcome=processing payments=1`,
    `${BIN}05:00.000Z outcome=requires_action payments=1`,
    `${BIN}15:00.000Z outcome=canceled payments=1`,
  ],
  "Why deliveries end without an outcome, and for how many messages": [
    "kind=stripe_unavailable code=http_503 failures=2 messages=2",
    "kind=stripe_configuration code=http_401 failures=1 messages=1",
    "kind=unexpected code=TypeError failures=1 messages=1",
  ],
  "Messages close to the dead-letter queue (the receive limit is 14)": [
    "messageId=order-1006 receives=13",
    "messageId=order-1005 receives=12",
  ],
  "Which rule senders break, and in which field": [
    "rule=amount field=amount deliveries=2",
    "rule=body_json field=body deliveries=1",
  ],
  "Ids that were used for two payments": [`messageId=order-1001 traceId=${TRACE} deliveries=1`],
  "How long payments take, by DynamoDB and Stripe": [
    "claim=9 charge50=400 charge99=900 complete=11",
  ],
  "Takeovers, and what they found": [
    "decision=completed takeovers=1",
    "decision=transient takeovers=1",
  ],
  "Declines by code": ["code=card_declined declineCode=insufficient_funds declines=1"],
};

const QUERIES = [...PAGE.matchAll(/^(.+):\n```\n([\s\S]+?)\n```$/gm)].map(
  ([, title = "", query = ""]) => ({ title, query }),
);

test("every query of the page is expected to find something", () => {
  expect(QUERIES.map(({ title }) => title)).toEqual(Object.keys(EXPECTED));
});

test.each(QUERIES)("the query answers: $title", ({ title, query }) => {
  const found = runQuery(query, LINES).map((row) =>
    Object.entries(row)
      .map(([column, value]) => `${column}=${String(value)}`)
      .join(" "),
  );

  expect(found).toEqual(EXPECTED[title]);
});
