import { expect, test } from "vitest";

import { keepable, readCheckpoint } from "../../../lib/reconcile/checkpoint.ts";
import { inSmallerSlices, isDone, newRun } from "../../../lib/reconcile/run.ts";

const NOW = Date.parse("2026-11-29T12:00:00Z");
const HOUR = 3_600_000;
const RUN = newRun({ since: NOW - 26 * HOUR, until: NOW - 2 * HOUR }, NOW, 50_000);
const kept = (checkpoint: object): unknown => JSON.parse(JSON.stringify(checkpoint));

test("what was kept is gone on with for six hours", () => {
  const checkpoint = { finished: NOW - HOUR, run: RUN };
  const stored = kept(keepable(checkpoint));
  expect(readCheckpoint(stored, NOW + 6 * HOUR)).toStrictEqual(checkpoint);
  expect(readCheckpoint(stored, NOW + 6 * HOUR + 1)).toStrictEqual({
    finished: NOW - HOUR,
    ignored: "The checkpoint is 6 hours old: a new run covers the rest.",
  });
  expect(readCheckpoint(undefined, NOW)).toStrictEqual({});
  expect(readCheckpoint(kept(keepable({ finished: NOW })), NOW)).toStrictEqual({ finished: NOW });
});

test.each<[string, unknown, string]>([
  ["text", "{", "it is no JSON object"],
  ["a list", [], "it is no JSON object"],
  ["nothing", null, "it is no JSON object"],
  ["another version", { version: 2 }, "another version's: 2, not 1"],
  ["no version", { run: RUN }, "another version's: undefined"],
  ["a run that is none", { version: 1, run: 7 }, "its run is not whole"],
  ["a time that is none", { version: 1, run: { ...RUN, until: null } }, "its run is not whole"],
  ["a list as a window", { version: 1, run: { ...RUN, window: [] } }, "its run is not whole"],
  ["an object as findings", { version: 1, run: { ...RUN, findings: {} } }, "its run is not whole"],
  [
    "a time beyond numbers",
    { version: 1, run: { ...RUN, until: Infinity } },
    "its run is not whole",
  ],
  ["half a window", { version: 1, run: { ...RUN, window: { since: 0 } } }, "its run is not whole"],
  ["no totals", { version: 1, run: { ...RUN, totals: null } }, "its run is not whole"],
  ...Object.keys(RUN).map((field): [string, unknown, string] => [
    `no ${field}`,
    { version: 1, run: kept({ ...RUN, [field]: undefined }) },
    "its run is not whole",
  ]),
])("%s is no run to go on with, and it says why", (_, stored, why) => {
  const { ignored, ...rest } = readCheckpoint(stored, NOW);
  expect(rest).toStrictEqual({});
  expect(ignored ?? "").toContain(why);
});

test("a time of the last run that is none is left out", () => {
  expect(readCheckpoint({ version: 1, finished: "yesterday" }, NOW)).toStrictEqual({});
});

test("a run is done when nothing of its window is left; slices halve, down to a thousand", () => {
  expect(isDone(RUN)).toBe(false);
  expect(isDone({ ...RUN, until: RUN.window.since + 1_000 })).toBe(false);
  expect(isDone({ ...RUN, until: RUN.window.since })).toBe(true);
  expect(inSmallerSlices({ ...RUN, slicePayments: 2_001 })).toStrictEqual({
    ...RUN,
    slicePayments: 1_000,
  });
  expect(inSmallerSlices({ ...RUN, slicePayments: 1_500 }).slicePayments).toBe(1_000);
});
