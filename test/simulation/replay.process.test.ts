import { expect, test } from "vitest";

import { codeOf, scheduleOf } from "../../simulation/search/replay.ts";
import { inThread } from "./in-thread.ts";
import type { Replayed } from "./replay.worker.ts";

const replayed = await inThread<Replayed>("./replay.worker.ts");

test("a seed gives the same schedule every time", () => {
  const [first, second] = replayed.tracesOfOneSeed;

  expect(first).toContain("producer");
  expect(second).toBe(first);
});

test("a schedule that breaks a rule is made shorter and still breaks it", () => {
  const { before, after } = replayed.shrunk;

  expect(before.rule).toBe("one_charge");
  expect(after.rule).toBe("one_charge");
  expect(after.lines).toBeLessThan(before.lines);
  expect(after.lines).toBeLessThanOrEqual(20);
});

test("a code stands for its schedule", () => {
  const schedule = { scenario: "one message", depth: 2, choices: [0, 3, 0, 12] };

  expect(codeOf(schedule)).toBe("one-message:2:0.3.0.12");
  expect(scheduleOf("one-message:2:0.3.0.12")).toEqual(schedule);
});

test.each(["", "one-message", "one-message:1:x", "no-such-scenario:1:0"])(
  "%j is not accepted as a code",
  (code) => {
    expect(() => scheduleOf(code)).toThrow("is not the code of a schedule");
  },
);
