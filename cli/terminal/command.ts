// What every command does the same way: it ends with a sentence instead of a stack trace, and tidily on
// Ctrl-C.
/** Wrong usage of a command, or what it needs is missing: shown as it is, without a stack. */
export class UsageError extends Error {
  override name = "UsageError";
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

/** Ctrl-C as a signal for a command's loops. A second one ends the process at once. */
export function interruptSignal(): AbortSignal {
  const controller = new AbortController();
  void interruption().then(() => controller.abort());
  return controller.signal;
}
