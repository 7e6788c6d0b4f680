// The queue, the event source and Stripe's limiter, event by event in virtual time: what the plan
// says is checked against it. It knows nothing of the plan's formulas.

import { backoffCeilingMs } from "../../lib/timing/backoff.ts";
import { DEFAULT_TIMINGS } from "../../lib/timing/payments.ts";

type Setting = {
  batchSize: number;
  concurrency: number;
  /** How long a batch may gather, in ms. */
  windowMs: number;
  /** What a message's own work takes before and after its charge, in ms; the batch shares one CPU. */
  cpuMsPerMessage: number;
  tableCallMs: number;
  /** How long each next charge takes, in ms. */
  drawLatencyMs: () => number;
  stripePerSecond: number;
};

export type Outcome = {
  charged: number;
  /** Answers 429. */
  throttled: number;
  deadLettered: number;
  /** Payments per second from the first arrival to the last outcome. */
  rate: number;
  /** From arrival to outcome, in ms. */
  waitMs: { median: number; p99: number };
  batches: number;
  /** Duration of all batches together, in ms. */
  busyMs: number;
};

type Message = { arrivedAt: number; visibleAt: number; receives: number };

const THROTTLED_MS = 50;

/** Runs until every message has ended. `arrivals` are ms in ascending order; `random` is from 0 to 1. */
export function simulate(
  setting: Setting,
  arrivals: readonly number[],
  random: () => number,
): Outcome {
  const { batchSize, concurrency, windowMs, cpuMsPerMessage, tableCallMs } = setting;
  const events = createAgenda();
  const visible: Message[] = [];
  let taken = 0; // of `visible`: a shift would copy it
  let idle = concurrency;
  const stripe = createLimiter(setting.stripePerSecond);
  const waits: number[] = [];
  let throttled = 0;
  let deadLettered = 0;
  let lastAt = 0;

  let batches = 0;
  let busyMs = 0;

  const isDue = (now: number): boolean =>
    visible.length - taken >= batchSize || now >= (visible[taken]?.visibleAt ?? now) + windowMs;

  const poll = (now: number): void => {
    while (idle > 0 && taken < visible.length && isDue(now)) {
      idle -= 1;
      const batch = visible.slice(taken, taken + batchSize);
      taken += batch.length;
      let doneAt = now;
      batch.forEach((message, index) => {
        const asksAt = now + tableCallMs + index * cpuMsPerMessage;
        const latencyMs = setting.drawLatencyMs();
        doneAt = Math.max(doneAt, asksAt + latencyMs + tableCallMs + cpuMsPerMessage);
        events.add(asksAt, (at) => charge(message, at, latencyMs));
      });
      batches += 1;
      busyMs += doneAt - now;
      events.add(doneAt, (at) => {
        idle += 1;
        poll(at);
      });
    }
  };

  const show = (message: Message, now: number): void => {
    message.receives += 1;
    message.visibleAt = now;
    visible.push(message);
    poll(now);
    if (windowMs > 0) events.add(now + windowMs, poll);
  };

  const charge = (message: Message, now: number, latencyMs: number): void => {
    if (stripe.allows(now)) {
      const outcomeAt = now + latencyMs + tableCallMs;
      waits.push(outcomeAt - message.arrivedAt);
      lastAt = Math.max(lastAt, outcomeAt);
      return;
    }
    throttled += 1;
    if (message.receives >= DEFAULT_TIMINGS.maxReceiveCount) {
      deadLettered += 1;
      return;
    }
    const ceiling = backoffCeilingMs(DEFAULT_TIMINGS, message.receives);
    const backAt = now + THROTTLED_MS + (ceiling / 2) * (1 + random());
    events.add(backAt, (at) => show(message, at));
  };

  for (const arrivedAt of arrivals) {
    events.add(arrivedAt, (at) => show({ arrivedAt, visibleAt: at, receives: 0 }, at));
  }
  events.run();

  const sorted = waits.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN;
  return {
    charged: waits.length,
    throttled,
    deadLettered,
    rate: (waits.length * 1_000) / (lastAt - (arrivals[0] ?? 0)),
    waitMs: { median: at(0.5), p99: at(0.99) },
    batches,
    busyMs,
  };
}

/** A bucket that holds one second's tokens and is full at the start. */
function createLimiter(perSecond: number) {
  let tokens = perSecond;
  let filledAt = 0;
  return {
    allows(now: number): boolean {
      tokens = Math.min(perSecond, tokens + ((now - filledAt) * perSecond) / 1_000);
      filledAt = now;
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
  };
}

/** What is to happen, in the order of its time. */
function createAgenda() {
  type Entry = { at: number; run: (at: number) => void };
  const entries: Entry[] = []; // the next one is the last
  return {
    add(at: number, run: Entry["run"]): void {
      let [least, most] = [0, entries.length];
      while (least < most) {
        const middle = (least + most) >> 1;
        if ((entries[middle]?.at ?? 0) > at) least = middle + 1;
        else most = middle;
      }
      entries.splice(least, 0, { at, run });
    },
    run(): void {
      let now = -Infinity;
      for (let entry = entries.pop(); entry; entry = entries.pop()) {
        if (entry.at < now) throw new Error("Bug! The simulated time went backwards.");
        now = entry.at;
        entry.run(now);
      }
    },
  };
}
