// A fixed, short part of `npm run soak`, and how its command behaves.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { expect, onTestFinished, test } from "vitest";

import { COMMAND_ENV } from "../support/command.ts";

const SOAK = join(import.meta.dirname, "..", "..", "chaos", "soak.ts");

function startSoak(...args: string[]) {
  const child = spawn(process.execPath, [SOAK, ...args], {
    env: { ...COMMAND_ENV, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "close");
  });
  const stdout = text(child.stdout);
  const stderr = text(child.stderr);
  const finished = once(child, "close").then(async ([code]) => ({
    code: code as number,
    stdout: await stdout,
    stderr: await stderr,
  }));
  return { child, finished };
}

test("Ctrl-C in the middle of kills and faults: nothing doubled or lost, and the last line so far", async () => {
  const { child, finished } = startSoak("--minutes", "10", "--seed", "7");
  // Its first report comes after five seconds.
  await new Promise<void>((resolve) => {
    child.stdout.on("data", (chunk: Buffer) => {
      if (/ [1-9]\d* kills$/m.test(chunk.toString())) resolve();
    });
  });

  child.kill("SIGINT");
  const { code, stdout, stderr } = await finished;

  const last = stdout.trim().split("\n").at(-1);
  expect(last).toMatch(
    /^\d+ messages, \d+ deliveries, [1-9]\d* kills, \d+ charges, 0 doubled, 0 lost$/,
  );
  expect(stdout).toContain("Seed 7: for the same chances again, add --seed 7.");
  expect({ code, stderr }).toEqual({ code: 130, stderr: "" });
});

test.each<[string, string[], string]>([
  ["no number of minutes", ["--minutes", "soon"], "--minutes must be a number from 0.01 to 1440"],
  ["no time at all", ["--minutes", "0"], "--minutes must be a number from 0.01 to 1440"],
  ["a seed that is no integer", ["--seed", "1.5"], "--seed must be an integer from 0"],
  ["an option that does not exist", ["--hours", "1"], "'--hours'"],
  ["a word", ["fast"], '"fast" is not an option of soak'],
])("%s is an error with the next step, and exit status 2", async (_, args, sentence) => {
  const { code, stdout, stderr } = await startSoak(...args).finished;

  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(sentence);
});
