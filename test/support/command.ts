// Commands in processes of their own, and what is left of a process.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { onTestFinished } from "vitest";

/** What a command gets of this process's environment: where programs are, and the compiled sources. */
const { PATH, NODE_COMPILE_CACHE } = process.env;
export const COMMAND_ENV = { PATH, NODE_COMPILE_CACHE };

/** An empty folder; it is gone when the test is. */
export function newFolder(atEnd: (end: () => void) => void = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), "payment-worker-"));
  atEnd(() => rmSync(folder, { recursive: true }));
  return folder;
}

export type Finished = { code: number | null; stdout: string; stderr: string };

/** Starts a program in a folder; the caller ends it. */
export function startCommand(
  cwd: string,
  program: string,
  args: string[],
  env: Record<string, string> = {},
) {
  const child = spawn(program, args, {
    cwd,
    env: { ...COMMAND_ENV, NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk: Buffer) => void (output.stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => void (output.stderr += chunk.toString()));
  const finished = once(child, "close").then(([code]): Finished => ({
    code: code as number | null,
    ...output,
  }));
  return { child, output, finished };
}

export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

export async function isListening(url: string): Promise<boolean> {
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname);
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
