// What every command does the same way: read its arguments, print its help, end with a sentence
// instead of a stack trace.
import { parseArgs } from "node:util";
import type { ParseArgsConfig } from "node:util";

/** A mistake in how a command was called, or in what it needs: shown as it is, without a stack. */
export class UsageError extends Error {
  override name = "UsageError";
}

/**
 * Parses a command's arguments. Prints `help` and exits 0 on --help.
 *
 * @throws UsageError for an argument that is not known
 */
export function readArguments<Options extends NonNullable<ParseArgsConfig["options"]>>(
  help: string,
  options: Options,
  args = process.argv.slice(2),
) {
  const config = {
    args,
    options: { ...options, help: { type: "boolean", short: "h" } },
    allowPositionals: true,
  } as const;
  try {
    const parsed = parseArgs(config);
    if ((parsed.values as { help?: boolean }).help) {
      process.stdout.write(`${help.trim()}\n`);
      process.exit(0);
    }
    return parsed;
  } catch (error) {
    // Node goes on with advice for arguments that nobody has here.
    const [sentence] = (error as Error).message.split(/\.(?:\s|$)/);
    throw new UsageError(`${sentence}. See --help.`, { cause: error });
  }
}

/** Runs a command. Exit status 2 for a usage error, 1 for any other; what `main` sets otherwise. */
export async function runCommand(main: () => Promise<void>): Promise<void> {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(); // `| head` has read enough
    throw error;
  });
  try {
    await main();
  } catch (error) {
    const expected = error instanceof UsageError;
    process.stderr.write(
      `${expected ? error.message : error instanceof Error ? error.stack : String(error)}\n`,
    );
    process.exitCode = expected ? 2 : 1;
  }
}

/**
 * Resolves on the first Ctrl-C (or SIGTERM, or the terminal's end), so that a command can stop what
 * it started. A second one ends the process at once.
 */
export function interruption(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let interrupted = false;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      if (interrupted) process.exit(130);
      interrupted = true;
      resolve();
    });
  }
  return promise;
}

/** Ctrl-C as a signal that a command's loops look at. A second one ends the process at once. */
export function interruptSignal(): AbortSignal {
  const controller = new AbortController();
  void interruption().then(() => controller.abort());
  return controller.signal;
}
