// What became of each message of the demo, by what the servers saw.
import { styleText } from "node:util";

import { table } from "../../cli/terminal/table.ts";
import { ORDERS_TABLE } from "../../local/servers.ts";
import { idIn } from "../../scripts/describe-body.ts";
import type { Harness, PlannedFault } from "../harness/harness.ts";
import { LOST, OPEN, SILENT } from "../harness/verdict.ts";
import type { Row, Verdict } from "../harness/verdict.ts";

/** Requests to Stripe that do not say whose they are. */
export function readsOf({ stack }: Harness): string {
  const reads = stack.stripe.ledger.requests().filter(({ method }) => method === "GET");
  const retrieved = reads.filter(({ path }) => path.includes("/pi_")).length;
  return `Requests are creates at Stripe. On top of them: ${reads.length - retrieved} × lookup, ${retrieved} × read after Stripe's events.`;
}

const isOrdinary = (row: Row): boolean => row.id.startsWith("ordinary-") && !isWrong(row);

const isWrong = ({ charges, ends }: Row): boolean =>
  charges > 1 || ends.some((end) => [LOST, SILENT, OPEN].includes(end));

/** The ordinary ones share a row, unless something is wrong with one of them. */
export function messageTable(harness: Harness, { rows }: Verdict): string {
  const ordinary = rows.filter(isOrdinary);
  const lines = rows.flatMap((row) => {
    if (!isOrdinary(row)) return [{ name: row.id, of: [row] }];
    return row === ordinary[0] ? [{ name: `${ordinary.length} ordinary ones`, of: ordinary }] : [];
  });
  const countsOf = counter(harness);
  const cells = lines.map(({ name, of }) => {
    const counts = of.map(countsOf);
    const sums = COUNTS.map((what) => counts.reduce((total, one) => total + one[what], 0));
    const ends = new Set(of.flatMap((row) => row.ends));
    return [name, ...sums.map(String), [...ends].join(", and ")];
  });
  return table(["message", ...COUNTS, "how it ended"], cells, {
    paint: (line, row) => (lines[row]?.of.some(isWrong) ? styleText("red", line) : line),
  });
}

/**
 * Why messages without a fault of their own came more than once: their batch's worker was killed, or the
 * machine was so busy that a call took longer than its timeout. Empty when none did.
 */
export function againTable(
  { stack, deliveries }: Harness,
  { rows }: Verdict,
  faults: readonly PlannedFault[],
): string {
  const reasons = new Map<string, Set<string>>();
  const add = (id: string | undefined, why: string): void => {
    if (id !== undefined) reasons.set(id, (reasons.get(id) ?? new Set()).add(why));
  };
  stack.feed.subscribe((entry) => {
    if (!("function" in entry) || entry.function !== stack.worker.name) return;
    if (entry.type === "failed") {
      for (const { body } of entry.messages)
        add(idIn(body), `its whole batch failed (${entry.reason})`);
    } else if (entry.type === "log" && entry.line.includes('"decision"')) {
      const { messageId, decision, kind, code } = JSON.parse(entry.line) as Record<string, string>;
      if (decision !== "completed" && decision !== "duplicate") {
        add(messageId, [decision, kind, code].filter(Boolean).join(", "));
      }
    }
  })();
  const planned = new Set(faults.map(({ id }) => id));
  const cells = rows
    .map(({ id }) => ({ id, count: deliveries.of(id).length }))
    .filter(({ id, count }) => count > 1 && !planned.has(id) && reasons.has(id))
    .map(({ id, count }) => [id, String(count), [...(reasons.get(id) ?? [])].join("; ")]);
  return cells.length === 0 ? "" : table(["message", "deliveries", "why it came again"], cells);
}

const COUNTS = ["deliveries", "requests", "charges", "events", "shipped"] as const;

function counter({ stack, deliveries }: Harness): (row: Row) => Record<Count, number> {
  const subjects = stack.bus.bus.published().map(({ detail }) => subjectOf(detail));
  const shipments = new Set(
    stack.table
      .changes(ORDERS_TABLE)
      .after(undefined)
      .map(({ dynamodb }) => dynamodb.Keys["pk"]?.S),
  );
  return ({ id, charges }) => ({
    deliveries: deliveries.of(id).length,
    requests: stack.stripe.ledger.countsFor(id).requests,
    charges,
    events: subjects.filter((subject) => subject === id).length,
    shipped: Number(shipments.has(`shipment#${id}`)),
  });
}

type Count = (typeof COUNTS)[number];

function subjectOf(detail: unknown): unknown {
  return (detail as { subject?: unknown }).subject;
}
