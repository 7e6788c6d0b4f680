import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { expect, onTestFinished, test } from "vitest";

import { COMMAND_ENV } from "../support/command.ts";

const DEMO = join(import.meta.dirname, "..", "..", "chaos", "demo.ts");

function startDemo() {
  const child = spawn(process.execPath, [DEMO], {
    env: COMMAND_ENV,
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "close");
  });
  return child;
}

test("the demo charges every payment once, ships every paid order once, loses none, and really meets every fault", async () => {
  const child = startDemo();

  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);

  const [around, last] = stdout.trim().split("\n").slice(-2);
  // On a busy machine the second worker can come too late: then another message has its turn.
  expect(last).toMatch(
    /^(31 messages, \d+ deliveries, 29|32 messages, \d+ deliveries, 30|33 messages, \d+ deliveries, 31) charges, 0 double charges, 0 lost messages$/,
  );
  expect(around).toMatch(/^3[2-4] outcomes, \d+ events published, (28|29|30) orders shipped once$/);
  expect({ code: code as number, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).not.toContain("\u001b[");
}, 60_000);

test("Ctrl-C ends the demo with status 130 and without an error", async () => {
  const child = startDemo();
  const stderr = text(child.stderr);
  await once(child.stdout, "data");

  child.kill("SIGINT");
  const [code] = (await once(child, "close")) as [number];

  expect({ code, stderr: await stderr }).toEqual({ code: 130, stderr: "" });
});
