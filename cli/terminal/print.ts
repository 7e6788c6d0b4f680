// Times and counts for people, and JSON for scripts.
import { duration } from "./progress.ts";
import { wrap } from "./table.ts";

/** "2026-11-29 12:00:00 UTC (3 min ago)" */
export function instant(atMs: number, now: number): string {
  const distance = now >= atMs ? `${duration(now - atMs)} ago` : `in ${duration(atMs - now)}`;
  return `${utc(atMs)} UTC (${distance})`;
}

/** "2026-11-29 12:00:00" */
export function utc(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 19).replace("T", " ");
}

/** Lines of a label and a string each, indented, wrapped to the terminal. */
export function labeled(
  lines: readonly (readonly [label: string, text: string])[],
  width = process.stdout.columns ?? Infinity,
): string {
  const left = Math.max(...lines.map(([label]) => label.length)) + 4;
  return lines
    .flatMap(([label, text]) =>
      wrap(text, Math.max(20, width - left)).map((line, index) =>
        `  ${(index === 0 ? label : "").padEnd(left - 2)}${line}`.trimEnd(),
      ),
    )
    .join("\n");
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;
}

/** To the person at the terminal; stdout is the result's alone. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** A result for a script: one JSON document on stdout. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, undefined, 2)}\n`);
}
