// An hour without Stripe, 300 times as fast: 12 seconds. Every rule of lib/timing/ holds in small as
// it does in large, and the queue carries the payments over.
import { setTimeout as sleep } from "node:timers/promises";

import { expect, test } from "vitest";

import { shortestOutageCoveredMs } from "../../lib/timing/backoff.ts";
import { violations } from "../../lib/timing/payments.ts";
import type { Timings } from "../../lib/timing/payments.ts";
import { timingVariables } from "../../lib/timing/variables.ts";
import { startOperator, until } from "../cli/operator.ts";
import { startSecret } from "../cli/secrets.ts";
import { TIMINGS } from "../support/timings.ts";

const PAYMENTS = 40;
const STRIPE_PER_SECOND = 25;

/** Seconds for minutes; SQS counts visibility in whole seconds, so no backoff is below one. */
const SCALED: Timings = {
  ...TIMINGS,
  stripeTimeoutMs: 1_000,
  callTimeoutMs: 1_000,
  deadlineReserveMs: 250,
  clockSkewMs: 500,
  functionTimeoutMs: 6_500,
  visibilityTimeoutMs: 39_000,
  backoffBaseMs: 1_000,
  backoffCapMs: 3_000,
  outageMs: 12_000,
};

const WORKER = {
  functionTimeoutMs: SCALED.functionTimeoutMs,
  visibilityTimeoutSeconds: SCALED.visibilityTimeoutMs / 1_000,
  maxReceiveCount: SCALED.maxReceiveCount,
  env: timingVariables(SCALED),
};

test("the backoff covers an outage of an hour, and one of twelve seconds in these timings", () => {
  // Half of 30 + 60 + 120 + 240 + 480 + 8 × 900 s, and of 1 + 2 + 11 × 3 s: a wait is at least half.
  expect(shortestOutageCoveredMs(TIMINGS)).toBe(4_065_000);
  expect(TIMINGS.outageMs).toBe(3_600_000);
  expect(shortestOutageCoveredMs(SCALED)).toBe(18_000);
  expect(violations(SCALED)).toEqual([]);
  expect(violations({ ...SCALED, maxReceiveCount: 9 })).toEqual([
    expect.stringMatching(/^outage: 9 receives with this backoff cover an outage of 10.5 s/),
  ]);
});

// They mostly wait: at the same time.
test.concurrent.for(["unavailable", "unreachable"] as const)(
  "an outage with Stripe %s loses no payment, doubles none, and ends without a storm",
  async (how, { onTestFinished }) => {
    const operator = await startOperator(WORKER, onTestFinished);
    const { stack, events } = operator;
    const outage = stack.stripe.faults.outage(how);
    for (let n = 0; n < PAYMENTS; n += 1) await operator.send(`order-${n}`);
    const pausesMs = () =>
      events.flatMap((event) => (event.type === "throttled" ? [event.pauseMs] : []));
    await sleep(SCALED.outageMs);
    // On a busy machine it lasts until the poller has slowed down.
    await until(() => pausesMs().some((pauseMs) => pauseMs >= 1_600));
    const dead = await stack.queue.depth(stack.queues.dlqUrl);
    const waiting = await stack.queue.depth(stack.queues.queueUrl);
    outage.remove();
    const tooMany = limitRate(stack.stripe);
    await stack.drained(100_000);

    // Nobody gave up.
    expect(dead).toEqual({ visible: 0, inFlight: 0, delayed: 0 });
    expect(waiting.visible + waiting.inFlight).toBe(PAYMENTS);
    expect(outage.happened()).toBeLessThan(PAYMENTS * SCALED.maxReceiveCount);
    // Everything was charged once, no faster than Stripe takes it.
    expect(tooMany()).toBe(0);
    expect(stack.stripe.ledger.totals().charges).toBe(PAYMENTS);
    expect(await stack.queue.messages(stack.queues.dlqUrl)).toEqual([]);
    for (let n = 0; n < PAYMENTS; n += 1) expect(operator.charges(`order-${n}`)).toBe(1);
  },
);

test("a revoked key loses no payment, counts what an alarm needs, and the new one is found without a deploy", async () => {
  const secret = await startSecret("sk_test_shop_old");
  const operator = await startOperator({ ...WORKER, env: { ...WORKER.env, ...secret.env } });
  const { stack, lines, events } = operator;
  await operator.send("before");
  await stack.drained(60_000);
  stack.stripe.keys.revoke("sk_test_shop_old");

  for (const id of ["order-1", "order-2", "order-3"]) await operator.send(id);
  await until(() => lines.filter((line) => line["ConfigurationError"] === 1).length >= 6);
  const pids = new Set(events.flatMap((event) => (event.type === "invoked" ? [event.pid] : [])));
  secret.put("sk_test_shop_new");
  await stack.drained(60_000);

  expect(lines.find((line) => line["ConfigurationError"] === 1)).toMatchObject({
    level: "ERROR",
    decision: "transient",
    kind: "stripe_configuration",
    code: "api_key_expired",
  });
  expect(["before", "order-1", "order-2", "order-3"].map(operator.charges)).toEqual([1, 1, 1, 1]);
  expect(await stack.queue.messages(stack.queues.dlqUrl)).toEqual([]);
  // The same processes as before: nothing was deployed or restarted.
  const charged = events.flatMap((event) => (event.type === "invoked" ? [event.pid] : []));
  expect(new Set(charged)).toEqual(pids);
});

/** Gives Stripe its usual half second and its limit; returns how many requests were above it. */
function limitRate({ faults }: Awaited<ReturnType<typeof startOperator>>["stack"]["stripe"]) {
  const times: number[] = [];
  const above = faults.add(
    {
      method: "POST",
      times: Infinity,
      where: () => {
        const now = performance.now();
        while (times.length > 0 && (times[0] ?? 0) <= now - 1_000) times.shift();
        times.push(now);
        return times.length > STRIPE_PER_SECOND;
      },
    },
    { kind: "refuse", error: "rate_limit" },
  );
  faults.add({ method: "POST", times: Infinity }, { kind: "delayAfter", ms: 500 });
  return above.happened;
}
