// A fixed part of `npm run crash-matrix`, which runs every row.
import { stripVTControlCharacters } from "node:util";

import { expect, test } from "vitest";

import { AROUND_ROWS, runAroundRow } from "../../chaos/crash-matrix/around.ts";
import { ROWS } from "../../chaos/crash-matrix/points.ts";
import type { Row } from "../../chaos/crash-matrix/points.ts";
import { isRight, matrixTable, summary } from "../../chaos/crash-matrix/report.ts";
import type { Result } from "../../chaos/crash-matrix/report.ts";
import { runRow } from "../../chaos/crash-matrix/run-row.ts";
import { CRASH_AROUND, CRASH_MATRIX, DEMO, SOAK } from "../../chaos/timings.ts";
import { violations } from "../../lib/timing/payments.ts";

function rowOf(where: string, side: Row["side"], secondDelivery: Row["secondDelivery"]): Row {
  const row = ROWS.find(
    (row) =>
      row.point.where === where && row.side === side && row.secondDelivery === secondDelivery,
  );
  if (!row) throw new Error(`There is no row ${where}, ${side}, ${secondDelivery}.`);
  return row;
}

/** On a busy machine a moment can pass, and the row shows nothing: then it is the next turn's. */
async function run(row: Row, turns = 3): Promise<Result> {
  const result = await runRow(row);
  return result.missed === undefined || turns === 1 ? result : run(row, turns - 1);
}

test("there is a row for ten points, both sides of each and four overlaps", () => {
  expect(new Set(ROWS.map((row) => JSON.stringify(row))).size).toBe(80);
});

test("a worker that is killed costs no second charge and loses no payment, whichever delivery comes between", async () => {
  const rows = [
    rowOf("cold start", "before", "during"),
    rowOf("Stripe create", "after", "during"),
    rowOf("complete update", "before", "after"),
    rowOf("takeover update", "before", "during"),
  ];

  const results: Result[] = [];
  for (const row of rows) results.push(await run(row));

  const right = { kills: 1, missed: undefined, counts: { charges: 1 }, end: "succeeded" };
  expect(results).toMatchObject([right, right, right, right]);
});

const COUNTS = { deliveries: 2, "Stripe requests": 1, charges: 1 };
const RIGHT: Result = {
  about: { where: "claim put", killed: "before it is applied", "second delivery": "later" },
  kills: 1,
  missed: undefined,
  counts: COUNTS,
  end: "succeeded",
  kept: true,
};
const MISSED: Partial<Result> = { kills: 0, missed: "the point was not reached" };

test("a row is right when it went as planned and one charge was recorded", () => {
  expect(isRight(RIGHT)).toBe(true);
});

test.each<[string, Partial<Result>]>([
  ["no charge", { counts: { ...COUNTS, charges: 0 } }],
  ["two charges", { counts: { ...COUNTS, charges: 2 } }],
  ["a violation", { kept: false }],
  ["a message in the dead-letter queue", { end: "dead-letter queue (invalid)" }],
  ["no kill", { kills: 0 }],
  ["another course than planned", { missed: "the point was not reached" }],
])("a row with %s is wrong", (_, change) => {
  expect(isRight({ ...RIGHT, ...change })).toBe(false);
});

test("the table has a line for each row, and the last line distinguishes a violation from a row that shows nothing", () => {
  const doubled: Result = { ...RIGHT, counts: { ...COUNTS, charges: 2 }, kept: false };
  const results = [RIGHT, doubled, { ...RIGHT, ...MISSED }];

  const table = matrixTable(results).split("\n");

  expect(table).toHaveLength(4);
  expect(table[0]).toMatch(
    /^where +killed +second delivery +kills +deliveries +Stripe requests +charges +how it ended$/,
  );
  expect(table[1]).toMatch(/^claim put +before it is applied +later +1 +2 +1 +1 +succeeded$/);
  expect(table[3]).toContain("succeeded; NOT AS PLANNED: the point was not reached");
  expect(stripVTControlCharacters(summary(results))).toBe(
    "3 points, 2 kills, 6 deliveries, 4 charges, 1 doubled, 1 wrong, 1 not as planned",
  );
});

test("there is a row for each request of five functions around the worker, on both sides", () => {
  const points = AROUND_ROWS.map(({ function: name, where, side }) => `${name} ${where} ${side}`);
  expect(new Set(points).size).toBe(20);
  expect(new Set(AROUND_ROWS.map((row) => row.function)).size).toBe(5);
});

const advance = AROUND_ROWS.find(
  ({ where, side }) => where === "advance update" && side === "after",
) as (typeof AROUND_ROWS)[number];

test("an order whose finalizer is killed after its update is charged, published and shipped", async () => {
  const result = await runAroundRow(advance);
  expect(result).toMatchObject({
    about: { function: "payment-finalizer", where: "advance update" },
    missed: undefined,
    counts: { charges: 1, shipped: 1 },
    end: "succeeded",
  });
  expect(isRight(result)).toBe(true);
});

test.each(Object.entries({ CRASH_AROUND, CRASH_MATRIX, DEMO, SOAK }))(
  "the timings %s keep every rule that a deployment has to keep",
  (_, timings) => {
    expect(violations(timings)).toEqual([]);
  },
);
