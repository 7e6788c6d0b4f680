// How a command finds the local stack that `npm start` keeps up: a small file, there while it runs.
import {
  appendFileSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
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
  /** The live page, with the token that its control needs. */
  page?: string;
  /** The worker's environment. */
  env: Record<string, string>;
};

// npm runs every command in the project's folder.
const FILE = resolve(".local", "stack.json");
const LOG_FILE = resolve(".local", "worker.log");

/** The stack that runs now; `undefined` when there is none, or one that is only starting. */
export function findRunningStack(): RunningStack | undefined {
  const running = readFile();
  return running && "endpoints" in running ? running : undefined;
}

/**
 * Takes the folder for this process. Returns `undefined`, or the process that has it: a folder has
 * one stack, starting or running.
 */
export function claimFolder(): number | undefined {
  mkdirSync(dirname(FILE), { recursive: true });
  const own = `${FILE}.${process.pid}`;
  writeFileSync(own, JSON.stringify({ pid: process.pid }));
  try {
    while (!unless("EEXIST", () => linkSync(own, FILE))) {
      const other = readFile() ?? takeAside(`${own}.left`);
      if (other) return other.pid;
    }
    return undefined;
  } finally {
    rmSync(own, { force: true });
  }
}

/** Removes what a killed process left; answers with one that has claimed the folder meanwhile. */
function takeAside(path: string): { pid: number } | undefined {
  if (!unless("ENOENT", () => renameSync(FILE, path))) return undefined;
  const other = readFile(path);
  if (other) renameSync(path, FILE);
  else rmSync(path);
  return other;
}

function unless(code: string, run: () => void): boolean {
  try {
    run();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === code) return false;
    throw error;
  }
}

/** What commands need to know of this process's stack. */
export function describeStack(stack: Stack, logFile: string): RunningStack {
  return {
    pid: process.pid,
    endpoints: { table: stack.table.url, queue: stack.queue.url, stripe: stack.stripe.url },
    tableName: stack.tableName,
    queueUrl: stack.queues.queueUrl,
    dlqUrl: stack.queues.dlqUrl,
    logFile,
    env: stack.worker.env,
  };
}

/** Lets other commands find the stack; the folder is this process's. */
export function announceStack(stack: Stack, page: string, bridge?: string): void {
  const running = {
    ...describeStack(stack, LOG_FILE),
    page,
    ...(bridge !== undefined && { bridge }),
  };
  // In one step, so that no reader sees half of it.
  writeFileSync(`${FILE}.${process.pid}`, `${JSON.stringify(running, undefined, 2)}\n`, {
    mode: 0o600, // it has the token of the page
  });
  renameSync(`${FILE}.${process.pid}`, FILE);
}

/** Begins an empty log; the function returned adds a line of the worker's to it. */
export function startLogFile(): (line: string) => void {
  writeFileSync(LOG_FILE, "");
  return (line) => appendFileSync(LOG_FILE, `${line}\n`);
}

/** Gives the folder back, if it is this process's. */
export function releaseFolder(): void {
  if (readFile()?.pid === process.pid) rmSync(FILE, { force: true });
}

/** The file of a process that is alive. */
function readFile(file = FILE): RunningStack | { pid: number } | undefined {
  try {
    const running = JSON.parse(readFileSync(file, "utf8")) as RunningStack | { pid: number };
    return process.kill(running.pid, 0) ? running : undefined;
  } catch {
    return undefined;
  }
}
