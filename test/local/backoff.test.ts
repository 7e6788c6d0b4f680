import { expect, test } from "vitest";

import { startBackOff } from "../../local/event-source/backoff.ts";

function prepare() {
  const clock = { ms: 0 };
  const backOff = startBackOff({ base: 100, max: 350, concurrency: 8, now: () => clock.ms });
  return { clock, backOff };
}

test("the pause doubles with each failure in a row and stops at its bound", () => {
  const { clock, backOff } = prepare();
  const pauses: number[] = [];

  for (let failure = 0; failure < 5; failure++) {
    pauses.push(backOff.failed());
    clock.ms += 1_000;
  }

  expect(pauses).toEqual([100, 200, 350, 350, 350]);
});

test("invocations that fail together pause the poller once", () => {
  const { clock, backOff } = prepare();

  const pauses = [backOff.failed(), backOff.failed(), backOff.failed()];
  clock.ms = 40;

  expect(pauses).toEqual([100, 100, 100]);
  expect(backOff.remainingMs()).toBe(60);
});

test("after a failure one invocation at a time probes the function", () => {
  const { backOff } = prepare();

  const before = backOff.concurrency();
  backOff.failed();

  expect(before).toBe(8);
  expect(backOff.concurrency()).toBe(1);
});

test("a success ends the pause and starts the doubling anew", () => {
  const { clock, backOff } = prepare();
  backOff.failed();
  clock.ms = 500;
  backOff.failed();

  backOff.succeeded();

  expect(backOff.remainingMs()).toBe(0);
  expect(backOff.concurrency()).toBe(8);
  expect(backOff.failed()).toBe(100);
});
