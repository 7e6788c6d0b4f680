// The run as tables: for a terminal, or as Markdown.

import { availableParallelism, cpus, loadavg } from "node:os";

import { table, wrap } from "../cli/terminal/table.ts";
import { BATCHES, COLD_ROUNDS, REAL, WARM_ROUNDS, WARM_UP } from "./settings.ts";
import type { Bench } from "./settings.ts";
import type { Interval } from "./statistics.ts";
import { VARIANTS } from "./variants.ts";
import type { Variant } from "./variants.ts";

/** One comparison: with a target, or for the reader to weigh. */
export type Comparison = { figure: string; target: string; seen: string; reached: string };
/** One figure of some variants. */
export type Figure = { figure: string; seen: Partial<Record<Variant, string>> };
export type Section = { comparisons: Comparison[]; figures: Figure[] };

/** A ratio is beside its target when all of its interval is. */
export function ratio(figure: string, { mean, low, high }: Interval, target?: number): Comparison {
  const reached = target === undefined ? "" : reachedOf({ low, high }, target);
  return {
    figure,
    target: target === undefined ? "" : `≤ ${target.toFixed(2)}`,
    seen: `${mean.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`,
    reached,
  };
}

function reachedOf({ low, high }: Pick<Interval, "low" | "high">, target: number): string {
  if (high <= target) return "reached";
  return low > target ? "missed" : "within the noise";
}

export function exactly(figure: string, target: string, seen = ""): Comparison {
  return { figure, target, seen, reached: seen === target ? "reached" : "missed" };
}

export function withInterval({ mean, low, high }: Interval, digits = 0): string {
  return `${mean.toFixed(digits)} (${low.toFixed(digits)}–${high.toFixed(digits)})`;
}

/** The conditions under which the numbers were taken, without which they mean nothing. */
export function limits({ throttle }: Pick<Bench, "throttle">): string[] {
  const [load = 0] = loadavg();
  return [
    `${new Date().toISOString().slice(0, 16).replace("T", " ")} UTC, Node ${process.versions.node}, ${availableParallelism()} × ${cpus()[0]?.model.trim() ?? "CPU"}, load average ${load.toFixed(1)} at the end. Compare within a run, not between runs.`,
    `Mean (90 % interval). The table and Stripe are those of local/, in one other process, over TLS, without a network; they answer after ${REAL.table} and ${REAL.stripe} ms. The session token has 1,000 characters.`,
    `Cold: ${COLD_ROUNDS} starts for each figure, in turns. Warm: ${WARM_ROUNDS} processes for each, of ${BATCHES} batches after ${WARM_UP} that are not counted; a process is one sample.`,
    throttle
      ? "From the end of init, the process gets the share of a CPU that Lambda gives that memory (1,769 MB is one CPU), by the kernel's quota in periods of 20 ms."
      : "Figures for less memory than 1,769 MB are missing: they need a CPU control group, which takes Linux and root.",
  ];
}

type Draw = (head: readonly string[], rows: readonly (readonly string[])[]) => string;

export function markdown(sections: readonly Section[], notes: readonly string[]): string {
  return [...tables(sections, drawMarkdown), notes.map((note) => `- ${note}`).join("\n")].join(
    "\n\n",
  );
}

const drawMarkdown: Draw = (head, rows) =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

export function text(sections: readonly Section[], notes: readonly string[]): string {
  const width = process.stdout.columns ?? 120;
  const lines = notes.flatMap((note) => wrap(note, width));
  return [...tables(sections, table), lines.join("\n")].join("\n\n");
}

function tables(sections: readonly Section[], draw: Draw): string[] {
  const compared = sections.flatMap(({ comparisons }) =>
    comparisons.map(({ figure, target, seen, reached }) => [figure, target, seen, reached]),
  );
  const figures = sections.flatMap((section) =>
    section.figures.map(({ figure, seen }) => [figure, ...VARIANTS.map((v) => seen[v] ?? "")]),
  );
  return [
    ...(compared.length > 0 ? [draw(["", "target", "measured", ""], compared)] : []),
    draw(["", ...VARIANTS], figures),
  ];
}
