// What the crash matrix prints.
import { styleText } from "node:util";

import { table } from "../../cli/terminal/table.ts";
import { lastLine } from "../harness/report.ts";
import { isAroundRight } from "./around.ts";
import type { AroundResult } from "./around.ts";
import { isKept, isRight } from "./run-row.ts";
import type { RowResult } from "./run-row.ts";

const HEAD = [
  "where",
  "killed",
  "second delivery",
  "kills",
  "deliveries",
  "Stripe requests",
  "charges",
  "how it ended",
];

export function matrixTable(results: readonly RowResult[]): string {
  const cells = results.map(({ row, kills, deliveries, stripeRequests, charges, end, missed }) => [
    row.point.where,
    sideOf(row.point.where, row.side),
    row.secondDelivery,
    ...[kills, deliveries, stripeRequests, charges].map(String),
    missed === undefined ? end : `${end}; NOT AS PLANNED: ${missed}`,
  ]);
  return table(HEAD, cells, {
    paint: (line, index) => {
      const result = results[index];
      return result && !isRight(result) ? styleText("red", line) : line;
    },
  });
}

export function aroundTable(results: readonly AroundResult[]): string {
  const cells = results.map(({ row, kills, charges, events, shipped, end, missed }) => [
    row.function,
    row.where,
    sideOf(row.where, row.side),
    ...[kills, charges, events, shipped].map(String),
    missed === undefined ? end : `${end}; NOT AS PLANNED: ${missed}`,
  ]);
  const head = [
    "function",
    "where",
    "killed",
    "kills",
    "charges",
    "events",
    "shipped",
    "how it ended",
  ];
  return table(head, cells, {
    paint: (line, index) => {
      const result = results[index];
      return result && !isAroundRight(result) ? styleText("red", line) : line;
    },
  });
}

export function summary(
  results: readonly RowResult[],
  around: readonly AroundResult[] = [],
): string {
  const sum = (value: (result: RowResult) => number): number =>
    results.reduce((total, result) => total + value(result), 0);
  const sumAround = (value: (result: AroundResult) => number): number =>
    around.reduce((total, result) => total + value(result), 0);
  const wrong = sum((result) => Number(!isKept(result))) + sumAround(({ kept }) => Number(!kept));
  const unplanned =
    sum((result) => Number(isKept(result) && !isRight(result))) +
    sumAround((result) => Number(result.kept && !isAroundRight(result)));
  const counts = {
    points: results.length + around.length,
    kills: sum(({ kills }) => kills) + sumAround(({ kills }) => kills),
    ...(results.length > 0 && { deliveries: sum(({ deliveries }) => deliveries) }),
    charges: sum(({ charges }) => charges) + sumAround(({ charges }) => charges),
    doubled:
      sum(({ charges }) => Number(charges > 1)) + sumAround(({ charges }) => Number(charges > 1)),
    ...(around.length > 0 && { shipped: sumAround(({ shipped }) => shipped) }),
    wrong,
    // The machine was too busy: such a row shows nothing, and nothing is wrong with its payment.
    ...(unplanned > 0 && { "not as planned": unplanned }),
  };
  return lastLine(counts, wrong === 0 && unplanned === 0);
}

function sideOf(where: string, side: "before" | "after"): string {
  if (where === "cold start") return side === "before" ? "while it loads" : "when it has loaded";
  return side === "before" ? "before it is applied" : "after it is applied";
}
