// Runs one row of the crash matrix, and reads from the servers what became of the message.
import { LOST, OPEN } from "../harness/verdict.ts";
import { killAtPoint } from "./kill-at-point.ts";
import type { Killed } from "./kill-at-point.ts";
import type { Row } from "./points.ts";
import { openRowHarness } from "./row-harness.ts";

export type RowResult = Killed & {
  row: Row;
  deliveries: number;
  /** Creates with the message's id, and lookups. */
  stripeRequests: number;
  charges: number;
  end: string;
};

const ID = "order-1001";
const KEY_WINDOW_MS = 1_000; // shorter than the first backoff

/** Runs the row on a stack of its own. */
export async function runRow(row: Row): Promise<RowResult> {
  const harness = await openRowHarness(row.point.keyWindowOver && KEY_WINDOW_MS);
  const { ledger } = harness.stack.stripe;
  try {
    const killed = await killAtPoint(harness, ID, row);
    await harness.drained();
    const { rows } = await harness.verdict();
    const lookups = ledger.requests().filter(({ method }) => method === "GET").length;
    return {
      row,
      ...killed,
      deliveries: harness.deliveries.of(ID).length,
      stripeRequests: ledger.countsFor(ID).requests + lookups,
      charges: ledger.countsFor(ID).charges,
      end: rows.find(({ id }) => id === ID)?.ends.join(", ") ?? "never sent",
    };
  } finally {
    await harness.stack.stop();
  }
}

/** At most one charge, and the message is not lost. */
export function isKept({ charges, end }: RowResult): boolean {
  return charges <= 1 && end !== LOST && end !== OPEN;
}

/**
 * And all went as planned: one kill, one charge, and an outcome that Stripe confirms. On a busy machine
 * a moment can pass, or timeouts use up a message's receives, so that it ends in the dead-letter queue.
 */
export function isRight({ missed, kills, charges, end }: RowResult): boolean {
  return missed === undefined && kills === 1 && charges === 1 && end === "succeeded";
}
