// Asks before anything is changed; without a terminal to ask at, it is an error.
import { createInterface } from "node:readline/promises";

import { UsageError } from "./command.ts";

type Terminal = {
  input: NodeJS.ReadableStream & { isTTY?: boolean };
  output: NodeJS.WritableStream;
};

/**
 * Whether the person says yes. Any other answer, Ctrl-C and Ctrl-D are a no, which says `otherwise`; after
 * Ctrl-C the exit status is 130.
 *
 * @throws UsageError without a terminal to ask at, unless `yes`
 */
export async function confirm(
  question: string,
  { yes, signal, otherwise }: { yes: boolean; signal: AbortSignal; otherwise: string },
  { input, output }: Terminal = { input: process.stdin, output: process.stderr },
): Promise<boolean> {
  if (yes) return true;
  if (!input.isTTY) {
    throw new UsageError(
      `${question} There is no terminal to ask at: check what it would do, then add --yes.`,
    );
  }
  const terminal = createInterface({ input, output, terminal: false });
  const closed = new Promise<string>((resolve) => {
    terminal.once("close", () => resolve(""));
  });
  try {
    const answer = await Promise.race([
      terminal.question(`${question} [y/N] `, { signal }),
      closed,
    ]);
    if (/^y(es)?$/i.test(answer.trim())) return true;
  } catch (error) {
    if (!signal.aborted) throw error;
    process.exitCode = 130;
  } finally {
    terminal.close();
  }
  output.write(`${otherwise}\n`);
  return false;
}
