// The table and Stripe. A message sets how late they answer, and gets what they have counted.

import { readFileSync } from "node:fs";

import { startStripe } from "../local/stripe/server.ts";
import { startTable } from "../local/table/server.ts";
import { CERTIFICATE, KEY } from "./servers.ts";
import type { Counts, Latency } from "./servers.ts";

const tls = { cert: readFileSync(CERTIFICATE), key: readFileSync(KEY) };
const [table, stripe] = await Promise.all([startTable({ tls }), startStripe({ tls })]);
await table.createRecordsTable("payments");

function counts(): Counts {
  return {
    table: table.requests().length,
    stripe: stripe.ledger.requests().length,
    opened: table.connections() + stripe.connections(),
  };
}

function setLatency(latency: Latency): void {
  table.faults.removeAll();
  stripe.faults.removeAll();
  const late = { times: Infinity };
  if (latency.table) table.faults.add(late, { kind: "delayAfter", ms: latency.table });
  if (latency.stripe) stripe.faults.add(late, { kind: "delayAfter", ms: latency.stripe });
}

process.on("disconnect", () => process.exit());
process.on("message", ({ latency }: { latency?: Latency }) => {
  if (latency) setLatency(latency);
  process.send?.(counts());
});
process.send?.({ table: table.url, stripe: stripe.url });
