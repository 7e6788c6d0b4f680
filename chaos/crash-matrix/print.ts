// Draws the kill table, as Markdown that also reads well in a terminal.
import { isRight } from "./play.ts";
import type { Played } from "./play.ts";

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

export function killTable(played: readonly Played[]): string {
  const lines = [HEAD, ...played.map(cells)];
  const widths = HEAD.map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  const draw = (line: string[]): string =>
    `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  return [draw(HEAD), rule, ...lines.slice(1).map(draw)].join("\n");
}

export function lastLine(played: readonly Played[]): string {
  const sum = (value: (row: Played) => number): number =>
    played.reduce((total, row) => total + value(row), 0);
  const doubled = played.filter(({ charges }) => charges > 1).length;
  const wrong = played.filter((row) => !isRight(row)).length;
  return `${played.length} points, ${sum(({ kills }) => kills)} kills, ${sum(({ deliveries }) => deliveries)} deliveries, ${sum(({ charges }) => charges)} charges, ${doubled} doubled, ${wrong} wrong`;
}

function cells({
  row,
  kills,
  deliveries,
  stripeRequests,
  charges,
  ending,
  missed,
}: Played): string[] {
  const { point, side, secondDelivery } = row;
  return [
    point.where,
    sideOf(point.where, side),
    secondDelivery,
    String(kills),
    String(deliveries),
    String(stripeRequests),
    String(charges),
    missed === undefined ? ending : `${ending}; NOT AS PLANNED: ${missed}`,
  ];
}

function sideOf(where: string, side: "before" | "after"): string {
  if (where === "cold start") return side === "before" ? "while it loads" : "when it has loaded";
  return side === "before" ? "before it is applied" : "after it is applied";
}
