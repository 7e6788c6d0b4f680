// A load: payments come as fast as all slots take them, then as four fifths of that, while each charge
// takes its time at Stripe; or orders are placed through the payment API.
import { setTimeout as sleep } from "node:timers/promises";

import type { Latency } from "../../lib/timing/latency.ts";
import { STRIPE_EVENT_TIMINGS } from "../../lib/timing/queue.ts";
import type { Stack } from "../../local/stack.ts";
import { drawLatencyMs } from "../../scripts/capacity/compare.ts";
import type { Plan } from "../../scripts/capacity/plan.ts";
import { seededRandom } from "../../simulation/search/random.ts";
import { openHarness, payment } from "../harness/harness.ts";
import type { Harness } from "../harness/harness.ts";
import { reportNowAndThen } from "../harness/report.ts";
import type { Sent, Verdict } from "../harness/verdict.ts";
import { drained, pause, until } from "../harness/wait.ts";
import { loadTimings } from "../timings.ts";
import { watchMemory } from "./memory.ts";
import type { Memory } from "./memory.ts";
import { createMeter } from "./meter.ts";
import type { Measured, Meter } from "./meter.ts";
import { placeOrders } from "./orders.ts";
import type { Orders } from "./orders.ts";

type LoadOptions = {
  plan: Plan;
  latency: Latency;
  /** How long, or how many payments. */
  ms: number;
  payments?: number | undefined;
  /** Orders per second through the payment API, in place of messages. */
  ordersPerSecond?: number | undefined;
  seed: number;
  interrupted: AbortSignal;
  /** Gets a line on how it goes, every few seconds. */
  report: (line: string) => void;
};

export type LoadResult = {
  full?: Measured;
  /** At four fifths of what the slots made, or of the orders. */
  steady?: Measured & { rate: number };
  orders?: Orders;
  repeats: number;
  deliveries: number;
  memory: Memory;
  verdict: Verdict;
};

const REPEATED = 0.01;
const FOUR_FIFTHS = 0.8;
/** HTTP requests of a shop at once; more orders wait for their turn. */
const CLIENTS = 4;

export async function load(options: LoadOptions): Promise<LoadResult> {
  const { plan, latency, interrupted, ordersPerSecond } = options;
  const random = seededRandom(options.seed);
  const scope = ordersPerSecond === undefined ? "worker" : "everything";
  const harness = await openHarness(loadTimings(plan, latency), scope);
  const { stack, deliveries } = harness;
  // Cold starts are another figure; and many at once are what this machine can do least.
  for (const one of stack.functions) {
    const isHttp = one.url !== undefined;
    for (let n = isHttp ? CLIENTS : plan.concurrency; n > 0; n--) one.provision();
  }
  const latencyOf = slowDown(stack, latency, random);
  const bodies = new Map<string, Sent>();
  let repeats = 0;
  const meter = createMeter(stack, plan.concurrency, latencyOf, (id) => {
    const message = bodies.get(id);
    bodies.delete(id);
    if (!message || random() >= REPEATED) return;
    repeats += 1;
    void harness.send(message);
  });
  const memory = watchMemory(stack, plan.concurrency, meter.outcomes);
  let phase = "starting";
  const reported = reportNowAndThen(
    stack,
    options.report,
    (waiting) => `${phase}: ${meter.outcomes()} payments done, ${waiting} in the queue`,
  );
  let count = 0;
  const send = async (): Promise<void> => {
    count += 1;
    const message = payment(`load-${count}`);
    bodies.set(message.id, message);
    meter.sent(message.id);
    await harness.send(message);
  };

  try {
    const result: Partial<LoadResult> = {};
    if (ordersPerSecond === undefined) {
      phase = "full load";
      result.full = await fullLoad(harness, meter, send, options);
      if (options.payments === undefined && !interrupted.aborted) {
        await drained(stack, interrupted);
        const rate = FOUR_FIFTHS * result.full.perSlot * plan.concurrency;
        phase = `${rate.toFixed(1)} per second`;
        const stop = meter.start();
        await atRate(rate, random, send, during(options.ms / 2, interrupted));
        result.steady = { ...stop(), rate };
      }
    } else {
      phase = `${ordersPerSecond} orders per second`;
      let stop = meter.start();
      result.orders = await placeOrders(harness, meter, random, async (place) => {
        await place(); // with its answer, the environments have started
        stop = meter.start();
        await atRate(ordersPerSecond, random, place, during(options.ms, interrupted), CLIENTS);
      });
      result.steady = { ...stop(), rate: ordersPerSecond };
    }
    phase = "the rest";
    await drained(stack, interrupted);
    for (const one of stack.functions) await one.stop(interrupted.aborted ? 0 : undefined);
    const verdict = await harness.verdict();
    return { ...result, repeats, deliveries: deliveries.count(), memory: memory(), verdict };
  } finally {
    await reported();
    await stack.stop();
    harness.sqs.destroy();
  }
}

const during = (ms: number, interrupted: AbortSignal): AbortSignal =>
  AbortSignal.any([interrupted, AbortSignal.timeout(ms)]);

/** Lets Stripe take its time for each charge, and less for each read; returns how long a charge took. */
function slowDown(
  { stripe }: Stack,
  latency: Latency,
  random: () => number,
): (messageId: string) => number {
  const drawn = new Map<string, number>();
  const { apiLatencyMs: medianMs, apiLatencyP99Ms: p99Ms } = STRIPE_EVENT_TIMINGS;
  stripe.faults.add(
    { times: Infinity },
    {
      kind: "hook",
      at: "received",
      async run({ method, messageId }) {
        const ms = drawLatencyMs(method === "POST" ? latency : { medianMs, p99Ms }, random);
        if (messageId !== undefined) drawn.set(messageId, ms);
        await sleep(ms);
      },
    },
  );
  return (messageId) => {
    const ms = drawn.get(messageId) ?? 0;
    drawn.delete(messageId); // a repeat is not charged
    return ms;
  };
}

/** Keeps three batches for each slot in the queue; measures once every slot has run. */
async function fullLoad(
  { stack }: Harness,
  meter: Meter,
  send: () => Promise<void>,
  { plan, ms, payments, interrupted }: LoadOptions,
): Promise<Measured> {
  const { batchSize, concurrency } = plan;
  const stock = 3 * batchSize * concurrency;
  const over = new AbortController();
  const producing = (async () => {
    while (!over.signal.aborted) {
      const { visible } = await stack.queue.depth(stack.queues.queueUrl);
      await Promise.all(Array.from({ length: Math.max(0, stock - visible) }, send));
      await pause(20, over.signal);
    }
  })();
  const warm = 3 * batchSize * concurrency;
  await until(60_000, () => interrupted.aborted || meter.outcomes() >= warm);
  const stop = meter.start();
  if (payments === undefined) {
    await pause(ms / 2, interrupted);
  } else {
    while (meter.outcomes() < payments && (await pause(100, interrupted)));
  }
  const measured = stop();
  over.abort();
  await producing;
  return measured;
}

/** Runs `send` at moments of chance, so many times per second and at most `most` at once, until `signal` aborts. */
async function atRate(
  perSecond: number,
  random: () => number,
  send: () => Promise<void>,
  signal: AbortSignal,
  most = Infinity,
): Promise<void> {
  const sending = new Set<Promise<void>>();
  let dueAt = performance.now();
  for (;;) {
    dueAt += (-Math.log(1 - random()) * 1_000) / perSecond;
    if (!(await pause(Math.max(0, dueAt - performance.now()), signal))) break;
    const one = send().finally(() => sending.delete(one));
    sending.add(one);
    if (sending.size >= most) await Promise.race(sending);
  }
  await Promise.all(sending);
}
