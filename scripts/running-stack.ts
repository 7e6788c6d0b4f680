// How a command finds the local stack that `npm start` keeps up: a small file, there while it runs.
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

import type { Stack } from "../local/stack.ts";

export type RunningStack = {
  pid: number;
  endpoints: { table: string; queue: string; stripe: string };
  tableName: string;
  queueUrl: string;
  dlqUrl: string;
  /** Absolute path of the worker's log, for `payments tail`. */
  logFile: string;
  /** Where containers reach it, when it was asked to be reachable: Docker's bridge on this machine. */
  bridge?: string;
  /** The worker's environment. */
  env: Record<string, string>;
};

// npm runs every command in the project's folder.
const FILE = resolve(".local", "stack.json");
const LOG_FILE = resolve(".local", "worker.log");

/** The stack that runs now; `undefined` when there is none, or only the file of one that was killed. */
export function findRunningStack(): RunningStack | undefined {
  let running: RunningStack;
  try {
    running = JSON.parse(readFileSync(FILE, "utf8")) as RunningStack;
  } catch {
    return undefined;
  }
  return isAlive(running.pid) ? running : undefined;
}

export function announceStack(stack: Stack, bridge?: string): void {
  const running: RunningStack = {
    pid: process.pid,
    endpoints: { table: stack.table.url, queue: stack.queue.url, stripe: stack.stripe.url },
    tableName: stack.tableName,
    queueUrl: stack.queues.queueUrl,
    dlqUrl: stack.queues.dlqUrl,
    logFile: LOG_FILE,
    ...(bridge !== undefined && { bridge }),
    env: stack.env,
  };
  mkdirSync(dirname(FILE), { recursive: true });
  writeFileSync(FILE, `${JSON.stringify(running, undefined, 2)}\n`);
}

/** Begins an empty log; the function returned adds a line of the worker's to it. */
export function startLogFile(): (line: string) => void {
  mkdirSync(dirname(LOG_FILE), { recursive: true });
  writeFileSync(LOG_FILE, "");
  return (line) => appendFileSync(LOG_FILE, `${line}\n`);
}

export function withdrawStack(): void {
  rmSync(FILE, { force: true });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
