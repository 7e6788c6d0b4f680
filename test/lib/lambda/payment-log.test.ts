import { expect, test } from "vitest";

import { paymentLine } from "../../../lib/lambda/payment-log.ts";
import type { Times } from "../../../lib/lambda/timed.ts";
import type { DeliveryResult } from "../../../lib/payments/delivery-result.ts";

const NOW = Date.parse("2026-11-29T12:00:00Z");

function line(result: DeliveryResult, times: Times = {}) {
  const delivery = {
    sqsMessageId: "sqs-1",
    receiptHandle: "handle-1",
    body: "",
    receiveCount: 2,
    attributes: {},
  };
  const delivered = { delivery, messageId: "order-1001", traceId: "trace-1", result, times };
  const context = { now: NOW, functionName: "payment-worker", requestId: "request-1" };
  // As it is written: what is undefined is left out.
  return JSON.parse(JSON.stringify(paymentLine(delivered, context))) as Record<string, unknown>;
}

test("a charge is one line, and its metrics ride on it", () => {
  expect(
    line(
      {
        decision: "completed",
        outcome: { result: "succeeded", paymentIntentId: "pi_1" },
        attempt: 2,
        takeover: true,
        stripeRequestId: "req_1",
      },
      { claimMs: 5, chargeMs: 800, completeMs: 7 },
    ),
  ).toEqual({
    timestamp: "2026-11-29T12:00:00.000Z",
    level: "INFO",
    message: "charge succeeded",
    decision: "completed",
    messageId: "order-1001",
    traceId: "trace-1",
    receiveCount: 2,
    sqsMessageId: "sqs-1",
    requestId: "request-1",
    attempt: 2,
    takeover: true,
    stripeRequestId: "req_1",
    claimMs: 5,
    chargeMs: 800,
    completeMs: 7,
    outcome: "succeeded",
    paymentIntentId: "pi_1",
    FunctionName: "payment-worker",
    _aws: {
      Timestamp: 1_795_953_600_000,
      CloudWatchMetrics: [
        {
          Namespace: "PaymentWorker",
          Dimensions: [["FunctionName"]],
          Metrics: [
            { Name: "Succeeded", Unit: "Count" },
            { Name: "ClaimToComplete", Unit: "Milliseconds" },
            { Name: "Takeover", Unit: "Count" },
          ],
        },
      ],
    },
    Succeeded: 1,
    ClaimToComplete: 812,
    Takeover: 1,
  });
});

test("a violation is counted over all and by its rule", () => {
  const invalid = line({
    decision: "invalid",
    violation: { field: "data.amount", rule: "amount" },
  });

  expect(invalid).toMatchObject({
    level: "ERROR",
    message:
      "invalid: data.amount must be an integer in Stripe's smallest unit of the currency, from 1 to 999999999999, written in plain digits.",
    field: "data.amount",
    rule: "amount",
    Invalid: 1,
    _aws: {
      CloudWatchMetrics: [{ Dimensions: [["FunctionName"], ["FunctionName", "rule"]] }],
    },
  });
});

test("a transient failure is counted over all and by its kind, and keeps both request ids apart", () => {
  const error = { kind: "stripe_unavailable", code: "http_503", requestId: "req_9" } as const;

  expect(line({ decision: "transient", error, stripeRequestId: "req_9" })).toMatchObject({
    level: "WARN",
    message: "no outcome yet: stripe_unavailable",
    kind: "stripe_unavailable",
    code: "http_503",
    requestId: "request-1",
    stripeRequestId: "req_9",
    TransientFailure: 1,
    FailedReceive: 2,
    _aws: {
      CloudWatchMetrics: [
        {
          Dimensions: [["FunctionName"], ["FunctionName", "kind"]],
          Metrics: [{ Name: "TransientFailure", Unit: "Count" }],
        },
        { Dimensions: [["FunctionName"]], Metrics: [{ Name: "FailedReceive", Unit: "Count" }] },
      ],
    },
  });
});

const SUCCEEDED = { result: "succeeded", paymentIntentId: "pi_1" } as const;
const DECLINED = { result: "declined", code: "card_declined" } as const;
const CONFIGURATION =
  "Stripe refused the API key or the account, or there is no key of the right mode: check the secret, the key's permissions and the account";

test.each<[DeliveryResult, string, message: string]>([
  [
    { decision: "completed", outcome: { result: "processing", paymentIntentId: "pi_1" } },
    "INFO Processing",
    "charge processing",
  ],
  [
    { decision: "completed", outcome: { result: "requires_action", paymentIntentId: "pi_1" } },
    "INFO RequiresAction",
    "charge requires_action",
  ],
  [{ decision: "completed", outcome: DECLINED }, "INFO Declined", "charge declined"],
  [
    { decision: "completed", outcome: SUCCEEDED, lookedUp: true },
    "INFO Lookup",
    "charge succeeded",
  ],
  [
    { decision: "duplicate", outcome: DECLINED },
    "INFO Duplicate",
    "duplicate: the outcome is declined already",
  ],
  [
    { decision: "in_progress", leaseExpiresAt: NOW },
    "INFO InProgress",
    "another worker holds the claim",
  ],
  [
    { decision: "lease_lost" },
    "WARN LeaseLost",
    "another worker took the claim over before it completed",
  ],
  [{ decision: "not_started" }, "WARN NotStarted", "too close to the deadline to begin"],
  [
    { decision: "conflict" },
    "ERROR Conflict",
    "conflict: this message id was claimed for another payment",
  ],
  [
    { decision: "conflict", error: { kind: "stripe_conflict" } },
    "ERROR Conflict",
    "conflict: Stripe knows this message id with another payment",
  ],
  [
    { decision: "rejected", error: { kind: "stripe_rejected" } },
    "ERROR Rejected",
    "Stripe rejected the request as invalid",
  ],
  ...["ConfigurationError", "TransientFailure"].map((metric): [DeliveryResult, string, string] => [
    { decision: "transient", error: { kind: "stripe_configuration" } },
    `ERROR ${metric}`,
    CONFIGURATION,
  ]),
  [
    { decision: "transient", error: { kind: "record_damaged", code: "owner" } },
    "ERROR TransientFailure",
    "the record is damaged and is not taken over: check its attribute owner",
  ],
])("%j is reported at its level and counted: %s: %s", (result, counted, message) => {
  const [level, metric = ""] = counted.split(" ");
  expect(line(result)).toMatchObject({ level, message, [metric]: 1, decision: result.decision });
});

test("a failure of the configuration is counted by its kind too", () => {
  expect(line({ decision: "transient", error: { kind: "stripe_configuration" } })).toHaveProperty(
    ["_aws", "CloudWatchMetrics", "0", "Dimensions"],
    [["FunctionName"], ["FunctionName", "kind"]],
  );
});

test("a first attempt is counted neither as a takeover nor as a lookup", () => {
  const outcome = SUCCEEDED;
  const reported = line({ decision: "completed", outcome, takeover: false, lookedUp: false });

  expect(reported).toMatchObject({ takeover: false, lookedUp: false });
  expect(reported).not.toHaveProperty("Takeover");
  expect(reported).not.toHaveProperty("Lookup");
});

test("a decline is reported with its codes", () => {
  const codes = { paymentIntentId: "pi_1", code: "card_declined", declineCode: "lost_card" };

  expect(line({ decision: "completed", outcome: { result: "declined", ...codes } })).toMatchObject({
    outcome: "declined",
    ...codes,
  });
});
