// What a load made of the slots, the payments and this machine, between two moments.
import { cpus } from "node:os";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";

import { handle } from "../../local/feed.ts";
import type { StackEvent } from "../../local/stack-event.ts";
import type { Stack } from "../../local/stack.ts";
import type { RecordedItem } from "../harness/verdict.ts";

export type Measured = {
  seconds: number;
  /** Messages that were acknowledged: payments and their repeats. */
  messages: number;
  batches: number;
  /** Per second and slot. */
  perSlot: number;
  /** The same, if a batch took no longer than its slowest charge. */
  allowedPerSlot: number;
  /** From sent to outcome, ms. */
  outcomeMs: { p50: number; p99: number };
  machine: Machine;
};

export type Machine = {
  /** How much of its one thread the process of the servers used, from 0 to 1. */
  serversBusy: number;
  /** How late its timers were at the 99th percentile, ms. */
  delayMs: number;
  /** How much of all processors nobody used, from 0 to 1. */
  idle: number;
};

export type Meter = ReturnType<typeof createMeter>;

/**
 * @param latencyOf how long Stripe took for a payment's charge, ms; 0 for one that was not charged now
 * @param onOutcome hears of each first outcome
 */
export function createMeter(
  stack: Stack,
  slots: number,
  latencyOf: (id: string) => number,
  onOutcome: (id: string) => void,
) {
  const sentAt = new Map<string, number>();
  const running = new Map<string, readonly string[]>();
  let outcomes = 0;
  let messages = 0;
  let batches = 0;
  let waitedMs = 0;
  let durations: number[] = [];

  stack.feed.subscribe(
    handle<StackEvent>({
      invoked(event) {
        if (event.function !== stack.worker.name) return;
        const ids = event.messages.map(({ body }) => (JSON.parse(body) as { id: string }).id);
        running.set(event.requestId, ids);
      },
      responded({ requestId, messageIds, failures }) {
        const ids = running.get(requestId);
        if (!running.delete(requestId) || !ids) return;
        batches += 1;
        messages += messageIds.length - failures.length;
        waitedMs += Math.max(...ids.map(latencyOf));
      },
      failed: ({ requestId }) => void running.delete(requestId),
      "record changed"({ after }) {
        const { messageId, status } = (after ?? {}) as RecordedItem;
        const at = sentAt.get(messageId);
        if (status !== "COMPLETED" || at === undefined) return;
        sentAt.delete(messageId);
        outcomes += 1;
        durations.push(performance.now() - at);
        onOutcome(messageId);
      },
    }),
  );

  return {
    /** Notes that a payment is sent now. */
    sent: (id: string) => void sentAt.set(id, performance.now()),
    /** Payments that have an outcome. */
    outcomes: () => outcomes,
    /** Begins to measure; what is returned ends it. */
    start: (): (() => Measured) => {
      const startedAt = performance.now();
      const machine = watchMachine();
      [messages, batches, waitedMs, durations] = [0, 0, 0, []];
      return () => {
        const ms = performance.now() - startedAt;
        return {
          seconds: ms / 1_000,
          messages,
          batches,
          perSlot: (messages * 1_000) / ms / slots,
          allowedPerSlot: (messages * 1_000) / waitedMs,
          outcomeMs: percentiles(durations),
          machine: machine(),
        };
      };
    },
  };
}

export function percentiles(values: readonly number[]): { p50: number; p99: number } {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

const TIMER_MS = 10;

function watchMachine(): () => Machine {
  const before = performance.eventLoopUtilization();
  const delay = monitorEventLoopDelay({ resolution: TIMER_MS });
  delay.enable();
  const processors = times();
  return () => {
    delay.disable();
    const now = times();
    return {
      serversBusy: performance.eventLoopUtilization(before).utilization,
      delayMs: Math.max(0, delay.percentile(99) / 1e6 - TIMER_MS),
      idle: (now.idle - processors.idle) / (now.all - processors.all),
    };
  };
}

/** What all processors together did so far, ms. */
function times(): { idle: number; all: number } {
  const each = cpus().map((cpu) => cpu.times);
  const sum = (of: (one: (typeof each)[number]) => number) =>
    each.reduce((total, one) => total + of(one), 0);
  return {
    idle: sum(({ idle }) => idle),
    all: sum(({ user, nice, sys, idle, irq }) => user + nice + sys + idle + irq),
  };
}
