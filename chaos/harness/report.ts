// What the demo, the crash matrix, the soak and the load print alike.
import { styleText } from "node:util";

import { table } from "../../cli/terminal/table.ts";
import type { Stack } from "../../local/stack.ts";
import type { PlannedFault } from "./harness.ts";
import type { Verdict } from "./verdict.ts";
import { pause } from "./wait.ts";

/** Of faults that happen to a message of their own, one that never happened is red. */
export function faultTable(faults: readonly PlannedFault[]): string {
  const named = faults.some(({ id }) => id !== undefined);
  const rows = faults.map(({ id = "", what, happened }) => [
    ...(named ? [id] : []),
    `${happened()} ×`,
    what,
  ]);
  return table([...(named ? ["message"] : []), "happened", "what went wrong"], rows, {
    paint: (line, row) => (named && faults[row]?.happened() === 0 ? styleText("red", line) : line),
  });
}

/** How many bodies ended in each way. */
export function endTable({ rows }: Verdict): string {
  const counts = new Map<string, number>();
  for (const end of rows.flatMap(({ ends }) => ends)) counts.set(end, (counts.get(end) ?? 0) + 1);
  const sorted = [...counts].toSorted(([, a], [, b]) => b - a);
  return table(
    ["bodies", "how they ended"],
    sorted.map(([end, count]) => [String(count), end]),
  );
}

/** Such as "30 messages, 58 deliveries, 0 doubled", green when the guarantee held. */
export function lastLine(counts: Record<string, number>, kept: boolean): string {
  const line = Object.entries(counts).map(([what, count]) => `${count} ${what}`);
  return styleText(kept ? "green" : "red", line.join(", "));
}

/** What follows from the payments, as the last line but one. */
export function aroundLine(
  { outcomes, events, shipped, wrong, missing }: Verdict,
  aborted = false,
): string {
  const counts = { outcomes, "events published": events, "orders shipped once": shipped };
  return lastLine(counts, wrong.length === 0 && (aborted || missing.length === 0));
}

/** Prints what is wrong, or has not come. */
export function printWrong({ wrong, missing, open }: Verdict, aborted = false): void {
  for (const sentence of [...wrong, ...(aborted ? [] : missing)]) console.log(sentence);
  if (aborted) console.log(`Interrupted: ${open.length} not at their end.`);
}

/** Prints the last line, and sets the exit status. */
export function conclude(counts: Record<string, number>, kept: boolean, aborted: boolean): void {
  console.log(lastLine(counts, kept));
  if (!kept) process.exitCode = 1;
  else if (aborted) process.exitCode = 130;
}

/**
 * Writes a line on how it goes every five seconds, until the returned function has resolved.
 *
 * @param line gets how many messages are in the queue and in the dead-letter queue
 */
export function reportNowAndThen(
  { queue, queues }: Stack,
  write: (line: string) => void,
  line: (waiting: number, dead: number) => string,
): () => Promise<void> {
  const done = new AbortController();
  const startedAt = performance.now();
  const run = async (): Promise<void> => {
    while (await pause(5_000, done.signal)) {
      const { visible, inFlight, delayed } = await queue.depth(queues.queueUrl);
      const dead = await queue.depth(queues.dlqUrl);
      const seconds = Math.round((performance.now() - startedAt) / 1_000);
      write(`${seconds} s  ${line(visible + inFlight + delayed, dead.visible)}`);
    }
  };
  const reporting = run();
  return async () => {
    done.abort();
    await reporting;
  };
}
