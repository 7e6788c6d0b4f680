// The run as Markdown.

import { availableParallelism, cpus, loadavg } from "node:os";

import * as set from "./rounds.ts";
import type { Summary } from "./statistics.ts";
import { targetsOf, words } from "./targets.ts";
import type { Results } from "./targets.ts";
import { VARIANTS } from "./variants.ts";
import type { Variant } from "./variants.ts";

/** The conditions under which the numbers were taken, without which they mean nothing. */
export function limits(throttled: boolean): string[] {
  const [load = 0] = loadavg();
  return [
    `Node ${process.versions.node}, ${availableParallelism()} × ${cpus()[0]?.model.trim() ?? "CPU"}; load average ${load.toFixed(1)} at the end. Compare within a run, not between runs.`,
    `Table and Stripe are small servers in one other process on this machine, over TLS for the cold starts and plain HTTP for the rest, without a network. They answer after ${set.REAL.table} and ${set.REAL.stripe} ms, or at once.`,
    `Variants take turns. Cold: ${set.COLD_ROUNDS} starts for each figure. Warm: ${set.WARM_ROUNDS} batches after ${set.WARM_UP} to warm up. Median (10th–90th percentile).`,
    throttled
      ? "Throttled: from the end of init, the process gets the share of a CPU that Lambda gives that memory (1,769 MB is one CPU), by the kernel's quota in periods of 20 ms; init is not throttled."
      : "Throttled figures are missing: they need a CPU control group, which takes Linux and root.",
    "The other bundles have the same esbuild settings, without the parts that scripts/build/leave-out.ts leaves out of ours.",
    "The naive variant charges one message after another, as it is usually shown.",
  ];
}

/** The tables: the targets, then every figure. */
export function markdown(results: Results): string {
  const { bundles, cold, warm, requests, trimmedPowertools } = results;
  const memories = Object.keys(cold.ours.throttledMs).map(Number);
  return [
    "| figure | target | seen | |",
    "|---|---|---|---|",
    ...targetsOf(results).map(
      ({ figure, target, seen, reached }) =>
        `| ${figure} | ${target} | ${seen} | ${reached ? "reached" : "not reached"} |`,
    ),
    "",
    `| | ${VARIANTS.join(" | ")} |`,
    `|---${"|---".repeat(VARIANTS.length)}|`,
    row("bundle, kB", (v) => String(Math.round(bundles[v].bytes / 1_000))),
    row("process start to ready, ms", (v) => shown(cold[v].readyMs)),
    row("first batch of 10 finished, ms", (v) => shown(cold[v].firstBatchMs)),
    ...memories.map((mb) =>
      row(`the same at ${mb} MB, ms`, (v) => {
        const summary = cold[v].throttledMs[mb];
        return summary ? shown(summary) : "";
      }),
    ),
    row("connections opened by the first batch", (v) => String(cold[v].connections)),
    row("batch of 10, warm, ms", (v) => shown(warm[v].wallMs)),
    row("CPU per message, warm, ms", (v) => shown(warm[v].cpuMsPerMessage, 2)),
    row("batch of 10, servers at once, ms", (v) => shown(warm[v].overheadMs)),
    row("CPU per message, servers at once, ms", (v) => shown(warm[v].overheadCpuMsPerMessage, 2)),
    row("connections opened, warm", (v) => String(warm[v].newConnections)),
    row("peak memory, MB", (v) => warm[v].peakMb.toFixed(0)),
    ...set.DUPLICATES.map((duplicates) =>
      row(`messages/s of one worker, ${duplicates * set.BATCH} % duplicates`, (v) =>
        (warm[v].throughput[duplicates] ?? 0).toFixed(0),
      ),
    ),
    row("requests of a first delivery", (v) => words(requests[v].first)),
    row("requests of a duplicate", (v) => words(requests[v].duplicate)),
    row("requests after a killed worker", (v) => words(requests[v].takeover)),
    "",
    `With the same parts left out, Powertools' bundle would have ${Math.round(trimmedPowertools / 1_000)} kB.`,
    "",
    ...limits(memories.length > 0).map((limit) => `- ${limit}`),
  ].join("\n");
}

function row(figure: string, read: (variant: Variant) => string): string {
  return `| ${[figure, ...VARIANTS.map(read)].join(" | ")} |`;
}

function shown({ median, p10, p90 }: Summary, digits = 0): string {
  return `${median.toFixed(digits)} (${p10.toFixed(digits)}–${p90.toFixed(digits)})`;
}
