// Draws the demo's tables. Colour only on a terminal: styleText looks at the stream.
import { styleText } from "node:util";

import type { PlannedFault } from "./stage.ts";
import { isKept } from "./verdict.ts";
import type { Row, Verdict } from "./verdict.ts";

export function messageTable({ rows }: Verdict): string {
  const head = ["message", "deliveries", "Stripe requests", "charges", "how it ended"];
  const cells = rows.map((row) => [
    row.id,
    String(row.deliveries),
    String(row.stripeRequests),
    String(row.charges),
    row.ending,
  ]);
  return table([head, ...cells], (line, index) => {
    if (index === 0) return styleText("bold", line);
    const row = rows[index - 1];
    return row && isBad(row) ? styleText("red", line) : line;
  });
}

export function faultTable(faults: PlannedFault[]): string {
  const cells = faults.map((fault) => [fault.id, `${fault.happened()} ×`, fault.story]);
  return table([["message", "happened", "what went wrong"], ...cells], (line, index) => {
    if (index === 0) return styleText("bold", line);
    return (faults[index - 1]?.happened() ?? 0) > 0 ? line : styleText("red", line);
  });
}

export function lastLine(verdict: Verdict): string {
  const { messages, deliveries, charges, doubleCharges, lost } = verdict;
  return styleText(
    isKept(verdict) ? "green" : "red",
    `${messages} messages, ${deliveries} deliveries, ${charges} charges, ${doubleCharges} double charges, ${lost} lost messages`,
  );
}

function isBad(row: Row): boolean {
  return row.charges > 1 || row.ending.includes("LOST") || row.ending.includes("still");
}

function table(rows: string[][], style: (line: string, index: number) => string): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows
    .map((row, index) => {
      const line = row.map((cell, column) =>
        /^\d/.test(cell) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      );
      return style(`  ${line.join("   ").trimEnd()}`, index);
    })
    .join("\n");
}
