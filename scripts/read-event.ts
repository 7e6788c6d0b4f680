// The event file that a command runs the worker with.
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";

import { UsageError } from "../cli/terminal/command.ts";

/** A command's one argument. @throws UsageError for none, or more */
export function eventFile([file, ...others]: readonly string[]): string {
  if (file !== undefined && others.length === 0) return file;
  throw new UsageError("Name one event file, such as events/payment.json. See --help.");
}

/** @throws UsageError when the file cannot be read, or is no SQS event */
export function readEvent(file: string): unknown {
  let event: unknown;
  try {
    event = JSON.parse(readFileSync(locate(file), "utf8"));
  } catch (cause) {
    const as = cause instanceof SyntaxError ? " as JSON" : "";
    throw new UsageError(`${file} cannot be read${as}: ${(cause as Error).message}`, { cause });
  }
  if (!Array.isArray((event as { Records?: unknown } | null)?.Records)) {
    throw new UsageError(`${file} is not an SQS event: it has no list of Records.`);
  }
  return event;
}

/** npm runs a command in the project's folder, wherever it was called. */
export function locate(file: string): string {
  return existsSync(file) ? file : resolve(process.env["INIT_CWD"] ?? "", file);
}
