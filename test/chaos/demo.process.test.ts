import { once } from "node:events";

import { expect, test } from "vitest";

import { start } from "./commands.ts";

test("the demo charges every payment once, ships every paid order once, loses none, and really meets every fault", async () => {
  const { code, stdout, stderr } = await start("demo").finished;

  const [around, last] = stdout.trim().split("\n").slice(-2);
  // On a busy machine the second worker can come too late: then another message has its turn.
  expect(last).toMatch(
    /^(31 messages, \d+ deliveries, 29|32 messages, \d+ deliveries, 30|33 messages, \d+ deliveries, 31) charges, 0 double charges, 0 lost messages$/,
  );
  expect(around).toMatch(/^3[2-4] outcomes, \d+ events published, (28|29|30) orders shipped once$/);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).not.toContain("\u001b[");
}, 60_000);

test("Ctrl-C ends the demo with status 130 and without an error", async () => {
  const { child, finished } = start("demo");
  await once(child.stdout, "data");

  child.kill("SIGINT");

  expect(await finished).toMatchObject({ code: 130, stderr: "" });
});
