// The event file that a command runs the worker with.
import { readFileSync } from "node:fs";

import { UsageError } from "../cli/terminal/command.ts";

/** @throws UsageError when the file cannot be read, or is no SQS event */
export function readEvent(file: string): unknown {
  let event: unknown;
  try {
    event = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new UsageError(`${file} cannot be read as JSON: ${(error as Error).message}`, {
      cause: error,
    });
  }
  if (!Array.isArray((event as { Records?: unknown } | null)?.Records)) {
    throw new UsageError(`${file} is not an SQS event: it has no list of Records.`);
  }
  return event;
}
