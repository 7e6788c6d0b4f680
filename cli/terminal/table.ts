// Tables for people, as wide as the terminal allows. Color only on a terminal: styleText checks the
// stream.
import { styleText } from "node:util";

/** Between columns; the second where the first leaves the words no room. */
const GAPS = ["   ", "  "];
/** A longer word of the last column may be cut, where there is no room: ids stand before it. */
const LONG_WORD = 12;
const NUMBER = /^[\d,.]+( ×)?$/;

/**
 * A table with a bold head; numbers stand on the right. What is wider than `width` characters wraps
 * between words; a table whose words do not fit has a block for each row instead. `paint` may color a
 * row's lines.
 */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  {
    width = process.stdout.columns ?? Infinity,
    paint = (line) => line,
  }: { width?: number; paint?: (line: string, row: number) => string } = {},
): string {
  const layouts = GAPS.map((gap) => ({ gap, widths: columnWidths([head, ...rows], width, gap) }));
  const { gap, widths } = layouts.find((layout) => layout.widths) ?? {};
  if (!widths) return rows.map((row, index) => block(head, row, width, index, paint)).join("\n\n");
  const draw = (row: readonly string[]): string[] => {
    const cells = row.map((cell, column) => wrap(cell, widths[column] ?? 0));
    const height = Math.max(...cells.map((lines) => lines.length));
    return Array.from({ length: height }, (_, at) =>
      cells
        .map((lines, column) => align(lines[at] ?? "", row[column] ?? "", widths[column] ?? 0))
        .join(gap)
        .trimEnd(),
    );
  };
  return [
    ...draw(head).map((line) => styleText("bold", line)),
    ...rows.flatMap((row, index) => draw(row).map((line) => paint(line, index))),
  ].join("\n");
}

function align(line: string, cell: string, width: number): string {
  if (line.length > width) return `${line.slice(0, width - 1)}…`;
  return NUMBER.test(cell) ? line.padStart(width) : line.padEnd(width);
}

const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);

/** As wide as the longest cell, or, where that is too wide, as narrow as its longest word must be. */
function columnWidths(
  all: readonly (readonly string[])[],
  width: number,
  gap: string,
): readonly number[] | undefined {
  const longest = (measure: (cell: string) => number): number[] =>
    (all[0] ?? []).map((_, column) => Math.max(...all.map((row) => measure(row[column] ?? ""))));
  const widths = longest((cell) => cell.length);
  const least = longest((cell) => Math.max(...cell.split(" ").map((word) => word.length)));
  const last = least.length - 1;
  least[last] = Math.min(least[last] ?? 0, LONG_WORD);
  const room = width - gap.length * (widths.length - 1);
  if (sum(least) > room) return undefined;
  while (sum(widths) > room) {
    const spare = widths.map((value, column) => (value > (least[column] ?? 0) ? value : 0));
    const widest = spare.indexOf(Math.max(...spare));
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

function block(
  head: readonly string[],
  row: readonly string[],
  width: number,
  index: number,
  paint: (line: string, row: number) => string,
): string {
  const label = Math.max(...head.map((name) => name.length));
  return row
    .flatMap((cell, column) =>
      wrap(cell, Math.max(1, width - label - 2)).map((line, at) =>
        paint(`${(at === 0 ? (head[column] ?? "") : "").padEnd(label)}  ${line}`.trimEnd(), index),
      ),
    )
    .filter((line) => line !== "")
    .join("\n");
}

/** Lines of at most `width` characters, or of one longer word. */
export function wrap(cell: string, width: number): string[] {
  if (cell.length <= width) return [cell];
  const lines: string[] = [];
  let line = "";
  for (const word of cell.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (longer.length > width && line !== "") {
      lines.push(line);
      line = word;
    } else {
      line = longer;
    }
  }
  return [...lines, line];
}
