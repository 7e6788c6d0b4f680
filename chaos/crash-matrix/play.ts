// Plays one row of the kill table, and reads from the servers what became of the message.
import { readEnd } from "./end.ts";
import type { End } from "./end.ts";
import { killAtPoint } from "./kill-at-point.ts";
import type { Killed } from "./kill-at-point.ts";
import type { Row } from "./points.ts";
import { openStage } from "./stage.ts";
import { killsWorker } from "./timings.ts";

export type Played = Killed & End & { row: Row };

const ID = "order-1001";
const KEY_WINDOW_MS = 1_000; // shorter than the first backoff

/** Plays the row on a stack of its own. */
export async function playRow(row: Row): Promise<Played> {
  const stage = await openStage(killsWorker(row.point.keyWindowOver && KEY_WINDOW_MS));
  try {
    const killed = await killAtPoint(stage, ID, row);
    await stage.settled();
    return { row, ...killed, ...(await readEnd(stage, ID)) };
  } finally {
    await stage.stack.stop();
  }
}

/** One charge, and an outcome that Stripe confirms. */
export function isPromiseKept({ charges, ending }: Played): boolean {
  return charges === 1 && ending === "succeeded";
}

/** And everything went as planned, with one kill. */
export function isRight(played: Played): boolean {
  return isPromiseKept(played) && played.missed === undefined && played.kills === 1;
}
