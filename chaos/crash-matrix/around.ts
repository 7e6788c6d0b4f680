// Kills a function around the worker at a request of its own, on the way of an order that is paid by a
// bank debit: over HTTP in, processing, succeeded by Stripe's event, published twice, shipped.
import { atNextRequest } from "../harness/at-request.ts";
import type { Request } from "../harness/at-request.ts";
import { openHarness } from "../harness/harness.ts";
import type { Harness } from "../harness/harness.ts";
import { kill } from "../harness/process.ts";
import { isKept } from "../harness/verdict.ts";
import { until } from "../harness/wait.ts";
import { CRASH_AROUND } from "../timings.ts";

type AroundPoint = {
  function: string;
  where: string;
  request: Request;
};

export type AroundRow = AroundPoint & { side: "before" | "after" };

export type AroundResult = {
  row: AroundRow;
  kills: number;
  /** What did not happen as planned: then the row shows nothing. */
  missed: string | undefined;
  charges: number;
  outcomes: number;
  events: number;
  shipped: number;
  end: string;
  kept: boolean;
};

const DOOR = "payment-api";

const POINTS: readonly AroundPoint[] = [
  { function: DOOR, where: "claim put", request: { to: "table", operation: "PutItem" } },
  { function: DOOR, where: "send", request: { to: "queue", operation: "SendMessage" } },
  {
    function: "stripe-webhook",
    where: "send",
    request: { to: "queue", operation: "SendMessage", queue: "stripe-events" },
  },
  {
    function: "payment-finalizer",
    where: "read at Stripe",
    request: { to: "stripe", method: "GET" },
  },
  {
    function: "payment-finalizer",
    where: "advance update",
    request: { to: "table", operation: "UpdateItem", sets: "revision = if_not_exists" },
  },
  {
    function: "payment-finalizer",
    where: "delete",
    request: { to: "queue", operation: "DeleteMessageBatch", queue: "stripe-events" },
  },
  {
    function: "outcome-publisher",
    where: "put events",
    request: { to: "bus", operation: "PutEvents" },
  },
  {
    function: "order-fulfillment",
    where: "order read",
    request: { to: "table", operation: "GetItem" },
  },
  {
    function: "order-fulfillment",
    where: "transaction",
    request: { to: "table", operation: "TransactWriteItems" },
  },
  {
    function: "order-fulfillment",
    where: "delete",
    request: { to: "queue", operation: "DeleteMessageBatch", queue: "orders" },
  },
];

export const AROUND_ROWS: readonly AroundRow[] = POINTS.flatMap((point) =>
  (["before", "after"] as const).map((side) => ({ ...point, side })),
);

const ID = "order-1001";
const PATIENCE_MS = 60_000;

/** Runs the row on a stack of its own. */
export async function runAroundRow(row: AroundRow): Promise<AroundResult> {
  const harness = await openHarness(CRASH_AROUND, "everything");
  const { stack } = harness;
  try {
    const { kills, missed } = await killOnTheWay(harness, row);
    await stack.drained(PATIENCE_MS).catch(() => {});
    const verdict = await harness.verdict();
    const { charges, outcomes, events, shipped, wrong, missing } = verdict;
    const ends = verdict.rows.flatMap((one) => one.ends);
    return {
      row,
      kills,
      missed,
      charges,
      outcomes,
      events,
      shipped,
      end: [...new Set([...ends, ...wrong, ...missing])].join(", "),
      kept: isKept(verdict),
    };
  } finally {
    await stack.stop();
  }
}

async function killOnTheWay(
  harness: Harness,
  { function: name, request, side }: AroundRow,
): Promise<{ kills: number; missed: string | undefined }> {
  const { stack } = harness;
  let kills = 0;
  const arm = (): void =>
    atNextRequest(stack, { request, side }, { lost: side === "before" }, async () => {
      const killed = await Promise.all(harness.functionNamed(name).kill().map(kill));
      kills = killed.filter(Boolean).length;
    });

  if (name === DOOR) arm();
  await harness.order(ID, { paymentMethod: "pm_usBankAccount_success" });
  await stack.drained(PATIENCE_MS).catch(() => {});
  const [intent] = stack.stripe.paymentIntents();
  if (intent?.status !== "processing") return { kills, missed: "the debit was not made" };
  if (name !== DOOR) arm();
  stack.stripe.step(intent.id, "succeed");
  const isReached = await until(PATIENCE_MS, () => kills > 0);
  return { kills, missed: isReached ? undefined : "the point was not reached" };
}

/** All went as planned: one charge, both outcomes published, and the goods gone. */
export function isAroundRight(result: AroundResult): boolean {
  const { kills, missed, charges, outcomes, shipped, kept } = result;
  return (
    kept && missed === undefined && kills > 0 && charges === 1 && outcomes === 2 && shipped === 1
  );
}
