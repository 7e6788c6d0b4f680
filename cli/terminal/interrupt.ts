// Ctrl-C as a signal that a command's loops look at, so that they end tidily.
import { interruption } from "./command.ts";

/** Aborted by the first Ctrl-C; a second one ends the process at once. */
export function interruptSignal(): AbortSignal {
  const controller = new AbortController();
  void interruption().then(() => controller.abort());
  return controller.signal;
}
