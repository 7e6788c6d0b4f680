import { expect, test, vi } from "vitest";

import { createPace } from "../../../lib/stripe/pace.ts";

/** A pace of four calls a second, whose waits pass at once. */
function prepare() {
  let now = 1_000;
  vi.spyOn(performance, "now").mockImplementation(() => now);
  const pauses: number[] = [];
  const wait = async (ms: number) => {
    pauses.push(ms);
    now += ms;
  };
  return { pauses, pace: createPace(4, { wait }), pass: (ms: number) => (now += ms) };
}
const busy = Object.assign(new Error("busy"), { statusCode: 429 });

test("calls have their distance, from whoever called last, and a pause that was long enough is not made up for", async () => {
  const { pauses, pace, pass } = prepare();
  const call = async () => "answer";
  expect([await pace(call), await pace(call)]).toEqual(["answer", "answer"]);
  pass(100);
  await pace(call);
  pass(250);
  await pace(call);
  pass(9_000);
  await pace(call);
  await pace(call);
  expect(pauses).toEqual([250, 150, 250]);
});

test("after a 429 it waits longer each time, a minute at most, and gives up with the eighth", async () => {
  const { pauses, pace } = prepare();
  const call = vi.fn<() => Promise<void>>().mockRejectedValue(busy);
  await expect(pace(call)).rejects.toBe(busy);
  expect(call).toHaveBeenCalledTimes(8);
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000]);
});

test("another error is not tried again", async () => {
  const { pace } = prepare();
  const call = vi.fn<() => Promise<void>>().mockRejectedValue(new Error("down"));
  await expect(pace(call)).rejects.toThrow("down");
  expect(call).toHaveBeenCalledTimes(1);
});

test("a signal ends the wait for a turn", async () => {
  const pace = createPace(0.001, { signal: AbortSignal.abort() });
  await pace(async () => {});
  await expect(pace(async () => {})).rejects.toMatchObject({ name: "AbortError" });
});
