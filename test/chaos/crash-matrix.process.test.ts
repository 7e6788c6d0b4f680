// A fixed part of `npm run crash-matrix`, which plays every row.
import { expect, test } from "vitest";

import { isRight, playRow } from "../../chaos/crash-matrix/play.ts";
import type { Played } from "../../chaos/crash-matrix/play.ts";
import { ROWS } from "../../chaos/crash-matrix/points.ts";
import type { Row } from "../../chaos/crash-matrix/points.ts";
import { killTable, lastLine } from "../../chaos/crash-matrix/print.ts";

function rowOf(where: string, side: Row["side"], secondDelivery: Row["secondDelivery"]): Row {
  const row = ROWS.find(
    (row) =>
      row.point.where === where && row.side === side && row.secondDelivery === secondDelivery,
  );
  if (!row) throw new Error(`There is no row ${where}, ${side}, ${secondDelivery}.`);
  return row;
}

/** On a busy machine a moment can pass, and the row shows nothing: then it is the next turn's. */
async function play(row: Row, turns = 3): Promise<Played> {
  const played = await playRow(row);
  return played.missed === undefined || turns === 1 ? played : play(row, turns - 1);
}

test("there is a row for ten points, both sides of each and four overlaps", () => {
  expect(new Set(ROWS.map((row) => JSON.stringify(row))).size).toBe(80);
});

test("a worker that is killed costs no second charge and loses no payment, whoever comes between", async () => {
  const rows = [
    rowOf("cold start", "before", "during"),
    rowOf("Stripe create", "after", "during"),
    rowOf("complete update", "before", "after"),
    rowOf("takeover update", "before", "during"),
  ];

  const played: Played[] = [];
  for (const row of rows) played.push(await play(row));

  const right = { kills: 1, missed: undefined, charges: 1, ending: "succeeded" };
  expect(played).toMatchObject([right, right, right, right]);
});

const RIGHT: Played = {
  row: rowOf("claim put", "before", "later"),
  kills: 1,
  missed: undefined,
  deliveries: 2,
  stripeRequests: 1,
  charges: 1,
  ending: "succeeded",
};

test("a row is right when it went as planned and one charge was recorded", () => {
  expect(isRight(RIGHT)).toBe(true);
});

test.each<[string, Partial<Played>]>([
  ["no charge", { charges: 0 }],
  ["two charges", { charges: 2 }],
  ["a lost message", { ending: "LOST" }],
  ["a message that is not at its end", { ending: "still in the queue" }],
  ["a message in the dead-letter queue", { ending: "dead-letter queue" }],
  ["no kill", { kills: 0 }],
  ["another course than planned", { missed: "the point was not reached" }],
])("a row with %s is wrong", (_, change) => {
  expect(isRight({ ...RIGHT, ...change })).toBe(false);
});

test("the table has a line for each row, and the last line counts what matters", () => {
  const doubled: Played = { ...RIGHT, row: rowOf("delete", "after", "during"), charges: 2 };

  const table = killTable([RIGHT, doubled]).split("\n");

  expect(table[2]).toMatch(
    /^\| claim put +\| before it is applied +\| later +\| 1 +\| 2 +\| 1 +\| 1 +\| succeeded +\|$/,
  );
  expect(table).toHaveLength(4);
  expect(lastLine([RIGHT, doubled])).toBe(
    "2 points, 2 kills, 4 deliveries, 3 charges, 1 doubled, 1 wrong",
  );
});
