// Kills a function around the worker at a request of its own, on the way of an order that is paid by a
// bank debit: over HTTP in, processing, succeeded by Stripe's event, published twice, shipped.
import { ADVANCE, atNextRequest } from "../harness/at-request.ts";
import type { Request } from "../harness/at-request.ts";
import { openHarness } from "../harness/harness.ts";
import type { Harness } from "../harness/harness.ts";
import { kill } from "../harness/process.ts";
import { isKept } from "../harness/verdict.ts";
import { until } from "../harness/wait.ts";
import { CRASH_AROUND } from "../timings.ts";
import type { Killed } from "./kill-at-point.ts";
import { sideOf } from "./report.ts";
import type { Result } from "./report.ts";

type AroundRow = {
  function: string;
  where: string;
  request: Request;
  side: "before" | "after";
};

const DOOR = "payment-api";

const WEBHOOK_QUEUE = { to: "queue", queue: "stripe-events" } as const;
const POINTS: readonly [functionName: string, where: string, Request][] = [
  [DOOR, "claim put", { to: "table", operation: "PutItem" }],
  [DOOR, "send", { to: "queue", operation: "SendMessage" }],
  ["stripe-webhook", "send", { ...WEBHOOK_QUEUE, operation: "SendMessage" }],
  ["payment-finalizer", "read at Stripe", { to: "stripe", method: "GET" }],
  ["payment-finalizer", "advance update", ADVANCE],
  ["payment-finalizer", "delete", { ...WEBHOOK_QUEUE, operation: "DeleteMessageBatch" }],
  ["outcome-publisher", "put events", { to: "bus", operation: "PutEvents" }],
  ["order-fulfillment", "order read", { to: "table", operation: "GetItem" }],
  ["order-fulfillment", "transaction", { to: "table", operation: "TransactWriteItems" }],
  [
    "order-fulfillment",
    "delete",
    { to: "queue", operation: "DeleteMessageBatch", queue: "orders" },
  ],
];

export const AROUND_ROWS: readonly AroundRow[] = POINTS.flatMap(([name, where, request]) =>
  (["before", "after"] as const).map((side) => ({ function: name, where, request, side })),
);

const ID = "order-1001";
const PATIENCE_MS = 60_000;

/** Runs the row on a stack of its own. */
export async function runAroundRow(row: AroundRow): Promise<Result> {
  const harness = await openHarness(CRASH_AROUND, "everything");
  const { stack } = harness;
  try {
    const { kills, missed } = await killOnTheWay(harness, row);
    await stack.drained(PATIENCE_MS).catch(() => {});
    const verdict = await harness.verdict();
    const { charges, outcomes, events, shipped, wrong, missing } = verdict;
    const ends = verdict.rows.flatMap((one) => one.ends);
    const isWhole = outcomes === 2 && shipped === 1;
    return {
      about: {
        function: row.function,
        where: row.where,
        killed: sideOf(row.where, row.side),
      },
      kills,
      missed: missed ?? (isWhole ? undefined : "not two outcomes and a shipment"),
      counts: { charges, events, shipped },
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
): Promise<Killed> {
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
