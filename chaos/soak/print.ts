// What a soak prints.
import type { Planned } from "./faults.ts";
import type { Progress, Soaked } from "./soak.ts";
import type { Verdict } from "./verdict.ts";

/** Times in ms. */
export function progressLine(progress: Progress, elapsedMs: number, chaosMs: number): string {
  const { phase, sent, waiting, deadLetters, kills } = progress;
  const rate = (sent / Math.min(elapsedMs, chaosMs)) * 1_000;
  const left = Math.max(0, chaosMs - elapsedMs);
  return [
    `${clock(elapsedMs)}  ${phase}: ${sent} sent (${rate.toFixed(0)}/s)`,
    `${waiting} in the queue`,
    `${deadLetters} in the dead-letter queue`,
    `${kills} kills`,
    left > 0 ? `${clock(left)} left, and about a minute to settle` : "",
  ]
    .filter((part) => part !== "")
    .join(", ");
}

export function faultTable(planned: readonly Planned[]): string {
  return table(
    "what went wrong",
    planned.map(({ name, happened }) => [name, happened()]),
  );
}

export function endingTable({ endings }: Verdict): string {
  return table(
    "how messages ended",
    [...endings].toSorted(([, a], [, b]) => b - a),
  );
}

export function lastLine({ verdict, deliveries, kills }: Soaked): string {
  const { messages, charges, doubled, lost } = verdict;
  return `${messages} messages, ${deliveries} deliveries, ${kills} kills, ${charges} charges, ${doubled} doubled, ${lost.length} lost`;
}

/** At most one charge a message, none lost, and, unless the soak was interrupted, each at its end. */
export function isKept({ doubled, lost, unfinished }: Verdict, interrupted: boolean): boolean {
  return doubled === 0 && lost.length === 0 && (interrupted || unfinished === 0);
}

function table(head: string, rows: [string, number][]): string {
  const width = Math.max(head.length, ...rows.map(([name]) => name.length));
  const lines = rows.map(
    ([name, count]) => `  ${name.padEnd(width)}  ${String(count).padStart(6)}`,
  );
  return [`  ${head}`, ...lines].join("\n");
}

function clock(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
