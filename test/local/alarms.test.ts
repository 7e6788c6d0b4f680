// How alarms are evaluated over a local stack; test/runbook/ provokes each of them.
import { expect, test } from "vitest";

import { evaluateAlarm } from "../../local/alarms/alarms.ts";
import type { AlarmDefinition } from "../../local/alarms/definition.ts";
import { evaluateExpression } from "../../local/alarms/expression.ts";

test.each<[string, number | undefined]>([
  ["FILL(none, 0) + FILL(two, 0)", 2],
  ["two + none", undefined],
  ["two + 3 * two + 1", 9],
  ["IF(two > 1 AND two > 0.5 * ten, 1, 0)", 0],
  ["IF(ten >= 10 AND FILL(none, 0) + FILL(none, 0) == 0, 1, 0)", 1],
  ["IF(none > 0, 0, 1)", undefined],
  ["IF(FILL(none, 0) >= 1, 0, 1)", 1],
])("%s is %s", (expression, value) => {
  expect(evaluateExpression(expression, { two: 2, ten: 10, none: undefined })).toBe(value);
});

test.each(["two +", "IF(two, 1)", "other", "two two", "(two)", "two - 1", "SUM(two)", "toString"])(
  "%s is not an expression of two",
  (expression) => {
    expect(() => evaluateExpression(expression, { two: 2 })).toThrow(/^"/);
  },
);

const alarm = (changes: Partial<AlarmDefinition>): AlarmDefinition => ({
  name: "A",
  description: "",
  threshold: 2,
  periodSeconds: 60,
  periods: 1,
  missing: "notBreaching",
  value: { metric: "Errors", of: "worker", statistic: "Sum" },
  ...changes,
});

/** Errors at these seconds, one each, at second 180 with time as in AWS. */
function firesWith(at: readonly number[], changes: Partial<AlarmDefinition>, before = false) {
  const read = (_: unknown, from: number, to: number) => {
    const count = at.filter((second) => 1_000 * second > from && 1_000 * second <= to).length;
    return count === 0 ? undefined : count;
  };
  const metrics = { read, sample: async () => {}, stop: () => {} };
  return evaluateAlarm(alarm(changes), metrics, { now: 180_000, speed: 1, before }).fires;
}

test.each<[string, readonly number[], Partial<AlarmDefinition>, boolean]>([
  ["two in the last minute", [121, 180], {}, true],
  ["one in the last minute", [120, 180], {}, false],
  ["two in each of three minutes", [1, 2, 61, 62, 121, 122], { periods: 3 }, true],
  ["two in two of three minutes", [1, 2, 121, 122], { periods: 3 }, false],
  ["no data", [], {}, false],
  ["no data, which is bad", [], { missing: "breaching" }, true],
  [
    "two by an expression",
    [150],
    {
      value: {
        expression: "FILL(e, 0) + 1",
        stats: { e: { metric: "", of: "", statistic: "Sum" } },
      },
    },
    true,
  ],
])("an alarm at two errors: %s", (_, at, changes, fires) => {
  expect(firesWith(at, changes)).toBe(fires);
});

test("data that is missing and ignored leaves an alarm as it was", () => {
  expect(firesWith([], { missing: "ignore" }, true)).toBe(true);
  expect(firesWith([], { missing: "ignore" }, false)).toBe(false);
  expect(firesWith([150], { missing: "ignore" }, true)).toBe(false);
});
