import { expect, test } from "vitest";

import { startBackoff } from "../../local/event-source/backoff.ts";

function prepare() {
  const clock = { ms: 0 };
  const backoff = startBackoff({ base: 100, max: 350, concurrency: 8, now: () => clock.ms });
  return { clock, backoff };
}

test("the pause doubles with each failure in a row and stops at its bound", () => {
  const { clock, backoff } = prepare();
  const pauses: number[] = [];

  for (let failure = 0; failure < 5; failure++) {
    pauses.push(backoff.failed());
    clock.ms += 1_000;
  }

  expect(pauses).toEqual([100, 200, 350, 350, 350]);
});

test("invocations that fail together pause the poller once", () => {
  const { clock, backoff } = prepare();

  const pauses = [backoff.failed(), backoff.failed(), backoff.failed()];
  clock.ms = 40;

  expect(pauses).toEqual([100, 100, 100]);
  expect(backoff.remainingMs()).toBe(60);
});

test("one invocation at a time probes a failing function, and a success starts anew", () => {
  const { clock, backoff } = prepare();
  backoff.failed();
  clock.ms = 500;
  backoff.failed();
  const probing = backoff.concurrency();

  backoff.succeeded();

  expect(probing).toBe(1);
  expect(backoff.remainingMs()).toBe(0);
  expect(backoff.concurrency()).toBe(8);
  expect(backoff.failed()).toBe(100);
});
