import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { withTimeLimit } from "../../../lib/net/time-limit.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const untilAborted = ({ abortSignal }: { abortSignal: AbortSignal }): Promise<never> =>
  new Promise((_, reject) => {
    abortSignal.addEventListener("abort", () => reject(abortSignal.reason as Error));
  });

test.each([
  [1_234, 1_234],
  [-5, 1], // an invocation that should be over
])("a call of %d ms is aborted after %d ms, and not before", async (timeoutMs, after) => {
  let aborted = false;
  const call = withTimeLimit(timeoutMs, untilAborted).catch(({ name }: Error) => {
    aborted = true;
    return name;
  });

  await vi.advanceTimersByTimeAsync(after - 1);
  expect(aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(aborted).toBe(true);
  expect(await call).toBe("AbortError");
});

test.each([
  ["answers", async () => "done", "done"],
  ["fails", () => Promise.reject(new Error("down")), "down"],
])("a call that %s leaves no timer behind", async (_, call, ends) => {
  const result = await withTimeLimit(1_000, call).catch(({ message }: Error) => message);
  expect([result, vi.getTimerCount()]).toEqual([ends, 0]);
});
