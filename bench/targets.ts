// What the worker has to reach, beside the other variants of the same run.

import type { Cold } from "./cold.ts";
import type { Requests } from "./requests.ts";
import type { Bundle, Variant } from "./variants.ts";
import type { Warm } from "./warm.ts";

export type Results = {
  bundles: Record<Variant, Bundle>;
  /** Powertools' bundle in bytes if the parts that ours leaves out were left out of it too. */
  trimmedPowertools: number;
  cold: Record<Variant, Cold>;
  warm: Record<Variant, Warm>;
  requests: Record<Variant, Requests>;
};

export type Target = { figure: string; target: string; seen: string; reached: boolean };

/** Each target with what was seen. */
export function targetsOf({ bundles, cold, warm, requests }: Results): Target[] {
  const throttled = (mb: number): Target[] => {
    const ours = cold.ours.throttledMs[mb]?.median;
    const theirs = cold.Powertools.throttledMs[mb]?.median;
    if (ours === undefined || theirs === undefined) return [];
    return [atMost(`ready + first batch, ${mb} MB`, 0.5, "Powertools", ours / theirs)];
  };
  // Warming up is a part of init that buys a faster first batch: the two targets below.
  const ready = cold["ours, not warmed up"].readyMs.median / cold.Powertools.readyMs.median;
  const wall = ratio((variant) => warm[variant].wallMs.median, "floor");
  const cpu = ratio((variant) => warm[variant].cpuMsPerMessage.median, "Powertools");
  return [
    atMost("bundle", 0.25, "Powertools", bundles.ours.bytes / bundles.Powertools.bytes),
    atMost("process start to ready", 0.35, "Powertools", ready),
    ...throttled(256),
    ...throttled(512),
    atMost("batch of 10, warm, wall", 1.06, "floor", wall),
    atMost("CPU per message, warm", 0.55, "Powertools", cpu),
    exactly("new connections, warm", { connection: 0 }, { connection: warm.ours.newConnections }),
    exactly("duplicate", { PutItem: 1 }, requests.ours.duplicate),
    exactly("first delivery", { PutItem: 1, UpdateItem: 1, "Stripe POST": 1 }, requests.ours.first),
  ];
}

function ratio(read: (variant: Variant) => number, other: Variant): number {
  return read("ours") / read(other);
}

function atMost(figure: string, limit: number, of: Variant, seen: number): Target {
  const target = `≤ ${limit.toFixed(2)} × ${of}`;
  return { figure, target, seen: seen.toFixed(2), reached: seen <= limit };
}

function exactly(
  figure: string,
  wanted: Record<string, number>,
  counted: Record<string, number>,
): Target {
  const target = words(wanted);
  const seen = words(counted);
  return { figure, target, seen, reached: seen === target };
}

/** Requests in words, in the same order whatever the order of arrival. */
export function words(counts: Record<string, number>): string {
  const parts = Object.entries(counts).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return parts.map(([kind, count]) => `${count} ${kind}`).join(", ") || "none";
}
