// Orders through the payment API: clients give up on slow or lost answers and ask again, and some ask a
// second time for no reason.
import { ORDERS_TABLE } from "../../local/servers.ts";
import type { Harness } from "../harness/harness.ts";
import type { Meter } from "./meter.ts";
import { percentiles } from "./meter.ts";

export type Orders = {
  orders: number;
  /** HTTP requests, as the clients count them. */
  requests: number;
  /** Clients that asked again though they were answered. */
  repeats: number;
  /** Orders that were answered 202. */
  accepted: number;
  /** From the first request to the shipment, ms. */
  shippedMs: () => { p50: number; p99: number };
};

const REPEATED = 0.01;
const LOST = 0.02;

/** Places orders while `run` does. */
export async function placeOrders(
  { stack, order, functionNamed }: Harness,
  meter: Meter,
  random: () => number,
  run: (place: () => Promise<void>) => Promise<void>,
): Promise<Orders> {
  const askedAt = new Map<string, number>();
  const shippedMs: number[] = [];
  const some = { times: Infinity, where: () => random() < LOST };
  functionNamed("payment-api").faults?.add(some, { kind: "dropAfter" });
  stack.table.changes(ORDERS_TABLE).subscribe(({ eventName, dynamodb: { Keys } }) => {
    const pk = Keys["pk"]?.S ?? "";
    const at = askedAt.get(pk.replace(/^shipment#/, ""));
    if (eventName === "INSERT" && at !== undefined) shippedMs.push(performance.now() - at);
  });
  let orders = 0;
  let requests = 0;
  let repeats = 0;
  let accepted = 0;
  await run(async () => {
    orders += 1;
    const id = `order-${orders}`;
    meter.sent(id);
    askedAt.set(id, performance.now());
    const answer = await order(id);
    requests += answer.attempts;
    if (answer.accepted) accepted += 1;
    if (random() >= REPEATED) return;
    const again = await order(id);
    requests += again.attempts;
    repeats += 1;
  });
  return { orders, requests, repeats, accepted, shippedMs: () => percentiles(shippedMs) };
}
