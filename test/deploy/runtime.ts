import { spawn } from "node:child_process";
import { join } from "node:path";

import { freePort } from "./ports.ts";

const LOCAL = join(import.meta.dirname, "..", "..", ".local");
const RIE = join(LOCAL, "rie", "aws-lambda-rie");
const RIC = join(LOCAL, "ric", "node_modules", "aws-lambda-ric", "index.mjs");

export type Runtime = {
  /** Invokes the function and returns its answer. */
  invoke(event: string): Promise<unknown>;
  /** Everything that the function wrote, a line each. */
  lines(): string[];
  stop(): Promise<void>;
};

/**
 * Runs a function as Lambda does, in AWS's own runtime: the client that Lambda's Node images contain, against
 * AWS's emulator of the interface that it speaks. `code` is the folder of the function, absolute.
 */
export async function startRuntime(
  code: string,
  handler: string,
  environment: Record<string, string>,
): Promise<Runtime> {
  const [port, apiPort] = [await freePort(), await freePort()];
  const child = spawn(
    RIE,
    [
      `--runtime-interface-emulator-address=127.0.0.1:${port}`,
      `--runtime-api-address=127.0.0.1:${apiPort}`,
      process.execPath,
      RIC,
      handler,
    ],
    {
      cwd: code,
      env: { PATH: process.env["PATH"], LAMBDA_TASK_ROOT: code, ...environment },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true, // with the function it forms a group, which ends as one
    },
  );
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => output.push(text));
  }
  const url = `http://127.0.0.1:${port}/2015-03-31/functions/function/invocations`;
  return {
    async invoke(event) {
      const deadline = Date.now() + 20_000;
      for (;;) {
        try {
          const response = await fetch(url, { method: "POST", body: event });
          return await response.json();
        } catch (error) {
          // Refused connections alone are tried again: the emulator does not say when it listens.
          if (Date.now() > deadline || child.exitCode !== null) throw error;
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
      }
    },
    lines: () => output.join("").split("\n"),
    async stop() {
      if (child.pid === undefined || child.exitCode !== null) return;
      const ended = new Promise((resolve) => child.once("exit", resolve));
      process.kill(-child.pid, "SIGKILL");
      await ended;
    },
  };
}
