import { RemovalPolicy, Stack } from "aws-cdk-lib";
import { expect, test } from "vitest";

import { QueueConsumer } from "../../infra/queue-consumer.ts";
import type { Timings } from "../../lib/timing/payments.ts";
import { TIMINGS } from "../support/timings.ts";
import { newApp, paymentWorker } from "./synth.ts";

// Each pair stands on the two sides of one rule; the numbers are in ms.
const RULES: {
  rule: string;
  holds: Partial<Timings>;
  broken: Partial<Timings>;
  says: RegExp;
}[] = [
  {
    rule: "visibility-aws",
    holds: { visibilityTimeoutMs: 360_000 },
    broken: { visibilityTimeoutMs: 359_000 },
    says: /visibility-aws: .*359 s.*360 s.*change visibilityTimeoutMs/,
  },
  {
    rule: "slowest-delivery",
    holds: { functionTimeoutMs: 60_000 },
    broken: { functionTimeoutMs: 57_000 },
    says: /slowest-delivery: .*57 s.*raise functionTimeoutMs/,
  },
  {
    rule: "deduplication-window",
    holds: { recordTtlMs: 31 * 86_400_000 + 5_000 },
    broken: { maxMessageAgeMs: 24 * 86_400_000 },
    says: /deduplication-window: .*24 d.*raise recordTtlMs and maxMessageAgeMs/,
  },
  {
    rule: "key-window",
    holds: { keyWindowMs: 82_800_000 },
    broken: { keyWindowMs: 86_400_000 },
    says: /key-window: .*24 h.*shorten keyWindowMs/,
  },
  {
    rule: "reserved-concurrency",
    holds: { reservedConcurrency: 3 },
    broken: { reservedConcurrency: 1 },
    says: /reserved-concurrency: .*\(1\).*\(2\).*raise reservedConcurrency/,
  },
  {
    rule: "receive-count",
    holds: { maxReceiveCount: 5, outageMs: 60_000 },
    broken: { maxReceiveCount: 4, outageMs: 60_000 },
    says: /receive-count: .*\(4\).*at least 5/,
  },
  {
    rule: "api-rate",
    holds: { apiRequestsPerSecond: 20 },
    broken: { apiRequestsPerSecond: 19 },
    says: /api-rate: .*5 × 2.*19\/s.*lower batchSize/,
  },
];

test.each(RULES)("timings that keep $rule are synthesized", ({ holds }) => {
  expect(() => paymentWorker(new Stack(newApp(), "Stack"), { timings: holds })).not.toThrow();
});

test.each(RULES)("timings that break $rule stop synthesis and say so", ({ broken, says }) => {
  const synthesize = () => paymentWorker(new Stack(newApp(), "Stack"), { timings: broken });

  expect(synthesize).toThrow(says);
  expect(synthesize).toThrow(/^Stack\/PaymentWorker breaks \d+ rule/);
});

test("any queue consumer's timings keep the rules of queues, or stop synthesis", () => {
  const synthesize = (visibilityTimeoutMs: number) =>
    new QueueConsumer(new Stack(newApp(), "Stack"), "Events", {
      bundle: "payment-worker",
      title: "consumer",
      description: "Consumes",
      messages: "Events",
      environment: {},
      statements: [],
      timings: { ...TIMINGS, visibilityTimeoutMs },
      reserveConcurrency: false,
      removalPolicy: RemovalPolicy.DESTROY,
    });

  expect(() => synthesize(360_000)).not.toThrow();
  expect(() => synthesize(359_000)).toThrow(/^Stack\/Events breaks 1 rule.*\n- visibility-aws: /);
});
