// What became of the rows of the crash matrix, and how that is printed.
import { styleText } from "node:util";

import { table } from "../../cli/terminal/table.ts";
import { lastLine } from "../harness/report.ts";
import type { Killed } from "./kill-at-point.ts";

export type Result = Killed & {
  /** Which row it is of, by column. */
  about: Record<string, string>;
  counts: { charges: number; deliveries?: number; shipped?: number; [column: string]: number };
  end: string;
  /** Whether the guarantee was kept. */
  kept: boolean;
};

/**
 * All went as planned: a kill, one charge, and an outcome that Stripe confirms. On a busy machine a
 * moment can pass, or timeouts use up a message's receives, so that it ends in the dead-letter queue.
 */
export function isRight({ missed, kills, counts, end, kept }: Result): boolean {
  const asPlanned = missed === undefined && kills > 0;
  return kept && asPlanned && counts.charges === 1 && end === "succeeded";
}

export function matrixTable(results: readonly Result[]): string {
  const columns = (of: "about" | "counts") => Object.keys(results[0]?.[of] ?? {});
  const head = [...columns("about"), "kills", ...columns("counts"), "how it ended"];
  const cells = results.map(({ about, kills, counts, end, missed }) => [
    ...Object.values(about),
    ...[kills, ...Object.values(counts)].map(String),
    missed === undefined ? end : `${end}; NOT AS PLANNED: ${missed}`,
  ]);
  return table(head, cells, {
    paint: (line, index) => {
      const result = results[index];
      return result && !isRight(result) ? styleText("red", line) : line;
    },
  });
}

export function summary(results: readonly Result[]): string {
  const sum = (value: (result: Result) => number): number =>
    results.reduce((total, result) => total + value(result), 0);
  const has = (column: string) => results.some(({ counts }) => column in counts);
  const wrong = sum(({ kept }) => Number(!kept));
  const unplanned = sum((result) => Number(result.kept && !isRight(result)));
  const counts = {
    points: results.length,
    kills: sum(({ kills }) => kills),
    ...(has("deliveries") && { deliveries: sum(({ counts }) => counts.deliveries ?? 0) }),
    charges: sum(({ counts }) => counts.charges),
    doubled: sum(({ counts }) => Number(counts.charges > 1)),
    ...(has("shipped") && { shipped: sum(({ counts }) => counts.shipped ?? 0) }),
    wrong,
    // The machine was too busy: such a row shows nothing, and nothing is wrong with its payment.
    ...(unplanned > 0 && { "not as planned": unplanned }),
  };
  return lastLine(counts, wrong === 0 && unplanned === 0);
}

export function sideOf(where: string, side: "before" | "after"): string {
  if (where === "cold start") return side === "before" ? "while it loads" : "when it has loaded";
  return side === "before" ? "before it is applied" : "after it is applied";
}
