// Runs one row of the crash matrix, and reads from the servers what became of the message.
import { isKept } from "../harness/verdict.ts";
import { killAtPoint } from "./kill-at-point.ts";
import type { Row } from "./points.ts";
import { sideOf } from "./report.ts";
import type { Result } from "./report.ts";
import { openRowHarness } from "./row-harness.ts";

const ID = "order-1001";
const KEY_WINDOW_MS = 1_000; // shorter than the first backoff

/** Runs the row on a stack of its own. */
export async function runRow(row: Row): Promise<Result> {
  const { point, side, secondDelivery } = row;
  const harness = await openRowHarness(point.keyWindowOver && KEY_WINDOW_MS);
  const { ledger } = harness.stack.stripe;
  try {
    const killed = await killAtPoint(harness, ID, row);
    await harness.drained();
    const verdict = await harness.verdict();
    const lookups = ledger.requests().filter(({ method }) => method === "GET").length;
    return {
      about: {
        where: point.where,
        killed: sideOf(point.where, side),
        "second delivery": secondDelivery,
      },
      ...killed,
      counts: {
        deliveries: harness.deliveries.of(ID).length,
        // Creates with the message's id, and lookups.
        "Stripe requests": ledger.countsFor(ID).requests + lookups,
        charges: ledger.countsFor(ID).charges,
      },
      end: verdict.rows.find(({ id }) => id === ID)?.ends.join(", ") ?? "never sent",
      kept: isKept(verdict),
    };
  } finally {
    await harness.stack.stop();
  }
}
