// The commands of chaos/ in processes of their own, gone when their test is.
import { once } from "node:events";
import { join } from "node:path";

import { onTestFinished } from "vitest";

import { startCommand } from "../support/command.ts";

const ROOT = join(import.meta.dirname, "..", "..");

export function start(command: string, ...args: string[]) {
  const started = startCommand(ROOT, process.execPath, [
    join(ROOT, "chaos", `${command}.ts`),
    ...args,
  ]);
  const { child } = started;
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "close");
  });
  return started;
}
