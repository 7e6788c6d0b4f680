// docs/runbook.md has a section for every alarm that is synthesized; npm run runbook carries them out.
import { expect, test } from "vitest";

import { alarmDefinitions } from "../../scripts/alarm-definitions.ts";
import { AROUND_SECTIONS, PRACTICE, SECTIONS } from "./page.ts";

const PROCEDURES = ["After an incident", "Restore the table", "Another region", "Practice"];

const alarms = alarmDefinitions();
const namesOf = (worker: boolean): string[] => [
  ...new Set(
    alarms.filter(({ part }) => (part === "PaymentWorker") === worker).map(({ name }) => name),
  ),
];

test("every alarm has its section, and every section an alarm", () => {
  expect([...SECTIONS.keys()]).toEqual([...namesOf(true), ...PROCEDURES]);
  expect(new Set(AROUND_SECTIONS.keys())).toEqual(new Set(namesOf(false)));
});

test("every alarm has its row in the table of how to provoke it", () => {
  expect([...PRACTICE.keys()].toSorted()).toEqual([...namesOf(true), ...namesOf(false)].toSorted());
});

test("every section says what it means for customers, how to see it, what to do and when it is over", () => {
  for (const [name, { text }] of [...SECTIONS, ...AROUND_SECTIONS]) {
    if (name === "After an incident" || name === "Practice") continue;
    const parts = [...text.matchAll(/^\*\*(For customers|See|Do|Over when)\b/gm)];
    expect([name, ...parts.map(([, part]) => part)]).toEqual([
      name,
      "For customers",
      "See",
      "Do",
      "Over when",
    ]);
  }
});
