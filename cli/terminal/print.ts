// Tables and times for people. Colour only on a terminal: styleText looks at the stream.
import { styleText } from "node:util";

import { duration } from "./progress.ts";

/** A table with a bold head. Numbers stand on the right; the last column may run on. */
export function table(head: string[], rows: string[][]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const lines = all.map((row) =>
    row
      .map((cell, column) =>
        /^[\d,]+$/.test(cell)
          ? cell.padStart(widths[column] ?? 0)
          : cell.padEnd(widths[column] ?? 0),
      )
      .join("   ")
      .trimEnd(),
  );
  return lines.map((line, index) => (index === 0 ? styleText("bold", line) : line)).join("\n");
}

/** "2026-11-29 12:00:00 UTC (3 min ago)" */
export function instant(atMs: number, now: number): string {
  const distance = now >= atMs ? `${duration(now - atMs)} ago` : `in ${duration(atMs - now)}`;
  return `${new Date(atMs).toISOString().slice(0, 19).replace("T", " ")} UTC (${distance})`;
}

export function plural(count: number, noun: string): string {
  return `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`;
}

/** A result for a script: one JSON document on stdout. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, undefined, 2)}\n`);
}
