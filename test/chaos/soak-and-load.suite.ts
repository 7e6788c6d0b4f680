// How `npm run soak` and `npm run load` behave: a short part of each, cut off by Ctrl-C.
import { expect, test } from "vitest";

import { start } from "./commands.ts";

test.each([
  {
    command: "soak",
    args: ["--minutes", "10", "--seed", "7"],
    first: "Seed 7: for the same chances again, add --seed 7.",
    progress: / [1-9]\d* kills$/m,
    last: /^\d+ messages, \d+ deliveries, [1-9]\d* kills, \d+ charges, 0 doubled, 0 lost$/,
  },
  {
    command: "load",
    args: ["--latency", "20", "--p99", "60"],
    first: "slots with batches of",
    progress: / [1-9]\d* payments done/,
    last: /^\d+ messages, \d+ repeats, \d+ deliveries, [1-9]\d* charges, 0 doubled, 0 lost$/,
  },
])(
  "Ctrl-C in the middle of a $command: nothing doubled or lost, and the last line so far",
  async ({ command, args, first, progress, last }) => {
    const { child, finished } = start(command, ...args);
    // Its first report comes after five seconds.
    await new Promise<void>((resolve) => {
      child.stdout.on("data", (chunk: Buffer) => {
        if (progress.test(chunk.toString())) resolve();
      });
    });

    child.kill("SIGINT");
    const { code, stdout, stderr } = await finished;

    expect(stdout.trim().split("\n").at(-1)).toMatch(last);
    expect(stdout).toContain(first);
    expect({ code, stderr }).toEqual({ code: 130, stderr: "" });
  },
);

test.each<[string, string, string[], string]>([
  ["no number of minutes", "soak", ["--minutes", "soon"], "--minutes must be a number from 0.01"],
  ["no time at all", "soak", ["--minutes", "0"], "--minutes must be a number from 0.01 to 1440"],
  ["a seed that is no integer", "soak", ["--seed", "1.5"], "--seed must be an integer from 0"],
  ["an option that does not exist", "soak", ["--hours", "1"], "'--hours'"],
  ["a word", "soak", ["fast"], '"fast" is not an option of soak'],
  ["a p99 below the median", "load", ["--p99", "499"], "--p99 (499) must not be below --latency"],
  ["a count of orders", "load", ["--door", "--payments", "100"], "--door takes --minutes"],
])("%s is an error with the next step, and exit status 2", async (_, command, args, sentence) => {
  const { code, stdout, stderr } = await start(command, ...args).finished;

  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(sentence);
});
