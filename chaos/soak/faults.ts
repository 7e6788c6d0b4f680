// What goes wrong around the worker during a soak: single requests by chance, and outages.
import type { ArmedFault } from "../../local/faults.ts";
import type { Stack } from "../../local/stack.ts";
import type { Fault as StripeFault } from "../../local/stripe/faults.ts";
import type { PlannedFault } from "../harness/harness.ts";
import { pause } from "../harness/wait.ts";
import type { Chance } from "./chance.ts";

const THROTTLED = {
  kind: "refuse",
  status: 400,
  code: "ProvisionedThroughputExceededException",
  message: "The level of configured provisioned throughput for the table was exceeded.",
} as const;

/** With the share of requests that each hits. Delays in ms: the worker waits 600 for a call. */
const TABLE_FAULTS = [
  ["table: request lost", 0.004, { kind: "dropBefore" }],
  ["table: reply lost", 0.008, { kind: "dropAfter" }],
  ["table: applied late", 0.004, { kind: "delayBefore", ms: 1_000 }],
  ["table: answered late", 0.004, { kind: "delayAfter", ms: 400 }],
  ["table: throttled", 0.004, THROTTLED],
] as const;

const STRIPE_FAULTS: readonly (readonly [string, number, StripeFault])[] = [
  ["Stripe: request lost", 0.004, { kind: "dropBefore" }],
  ["Stripe: reply lost", 0.008, { kind: "dropAfter" }],
  ["Stripe: arrives late", 0.004, { kind: "delayArrival", ms: 1_500 }],
  ["Stripe: charged late", 0.004, { kind: "delayBefore", ms: 1_500 }],
  ["Stripe: answered late", 0.004, { kind: "delayAfter", ms: 1_500 }],
  ["Stripe: slow body", 0.004, { kind: "slowBody", ms: 900 }],
  ["Stripe: 429", 0.004, { kind: "refuse", error: "rate_limit" }],
  ["Stripe: 409, lock timeout", 0.004, { kind: "refuse", error: "lock_timeout" }],
  ["Stripe: 500, not stored", 0.004, { kind: "refuse", error: "server_error" }],
  ["Stripe: 401", 0.001, { kind: "refuse", error: "unauthorized" }],
  ["Stripe: stored 500", 0.002, { kind: "storedError" }],
  ["Stripe: charged, stored 500", 0.002, { kind: "storedErrorAfterCharge" }],
];

const QUEUE_FAULTS = [
  ["queue: request lost", 0.004, { kind: "dropBefore" }],
  ["queue: reply lost", 0.004, { kind: "dropAfter" }],
] as const;

const BUS_FAULTS = [
  ["bus: request lost", 0.01, { kind: "dropBefore" }],
  ["bus: reply lost", 0.01, { kind: "dropAfter" }],
] as const;

/** Stripe's events come at least once, in no order, and an outsider sends some too. */
const WEBHOOK_FAULTS = [
  ["event: sent twice", 0.05, { kind: "duplicate" }],
  ["event: a second one of the same change", 0.03, { kind: "secondEvent" }],
  ["event: late", 0.05, { kind: "delayArrival", ms: 2_000 }],
  ["event: forged", 0.03, { kind: "forged" }],
  ["event: stale", 0.02, { kind: "stale", ms: 301_000 }],
] as const;

function planned(what: string, { happened }: ArmedFault): PlannedFault {
  return { what, happened };
}

/** Arms the faults that hit single requests. */
export function armSingleFaults(
  { table, stripe, queue, bus }: Stack,
  chance: Chance,
): PlannedFault[] {
  const some = (share: number) => ({ times: Infinity, where: () => chance.happens(share) });
  return [
    ...TABLE_FAULTS.map(([what, share, fault]) =>
      planned(what, table.faults.add(some(share), fault)),
    ),
    ...STRIPE_FAULTS.map(([what, share, fault]) =>
      planned(what, stripe.faults.add(some(share), fault)),
    ),
    ...QUEUE_FAULTS.map(([what, share, fault]) =>
      planned(what, queue.faults.add(some(share), fault)),
    ),
    ...BUS_FAULTS.map(([what, share, fault]) => planned(what, bus.faults.add(some(share), fault))),
    ...WEBHOOK_FAULTS.map(([what, share, fault]) =>
      planned(what, stripe.webhooks.faults.add(some(share), fault)),
    ),
  ];
}

/** Outages of 1 to 4 s, one at a time with quiet between them, until `signal` aborts. */
export function startOutages(
  { table, stripe, queue }: Stack,
  chance: Chance,
  signal: AbortSignal,
): { planned: PlannedFault[]; ended: Promise<void> } {
  const all = { times: Infinity };
  const deletes = { ...all, operation: "DeleteMessageBatch" };
  const outages: [what: string, begin: () => ArmedFault][] = [
    ["outage: Stripe answers 503", () => stripe.faults.outage("unavailable")],
    ["outage: Stripe is not reached", () => stripe.faults.outage("unreachable")],
    ["outage: the table throttles", () => table.faults.add(all, THROTTLED)],
    ["outage: the table is not reached", () => table.faults.add(all, { kind: "dropBefore" })],
    ["outage: acknowledgements are lost", () => queue.faults.add(deletes, { kind: "dropBefore" })],
  ];
  const happened = outages.map(() => 0);

  async function run(): Promise<void> {
    for (let turn = 0; await pause(chance.between(5_000, 15_000), signal); turn++) {
      const index = turn % outages.length;
      const outage = outages[index]?.[1]();
      await pause(chance.between(1_000, 4_000), signal);
      outage?.remove();
      if (outage && outage.happened() > 0) happened[index] = (happened[index] ?? 0) + 1;
    }
  }

  const planned = outages.map(([what], index) => ({
    what,
    happened: () => happened[index] ?? 0,
  }));
  return { planned, ended: run() };
}
