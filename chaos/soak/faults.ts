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
  ["request lost", 0.004, { kind: "dropBefore" }],
  ["reply lost", 0.008, { kind: "dropAfter" }],
  ["applied late", 0.004, { kind: "delayBefore", ms: 1_000 }],
  ["answered late", 0.004, { kind: "delayAfter", ms: 400 }],
  ["throttled", 0.004, THROTTLED],
] as const;

const STRIPE_FAULTS: readonly (readonly [string, number, StripeFault])[] = [
  ["request lost", 0.004, { kind: "dropBefore" }],
  ["reply lost", 0.008, { kind: "dropAfter" }],
  ["arrives late", 0.004, { kind: "delayArrival", ms: 1_500 }],
  ["charged late", 0.004, { kind: "delayBefore", ms: 1_500 }],
  ["answered late", 0.004, { kind: "delayAfter", ms: 1_500 }],
  ["slow body", 0.004, { kind: "slowBody", ms: 900 }],
  ["429", 0.004, { kind: "refuse", error: "rate_limit" }],
  ["409, lock timeout", 0.004, { kind: "refuse", error: "lock_timeout" }],
  ["500, not stored", 0.004, { kind: "refuse", error: "server_error" }],
  ["401", 0.001, { kind: "refuse", error: "unauthorized" }],
  ["stored 500", 0.002, { kind: "storedError" }],
  ["charged, stored 500", 0.002, { kind: "storedErrorAfterCharge" }],
];

const QUEUE_FAULTS = [
  ["request lost", 0.004, { kind: "dropBefore" }],
  ["reply lost", 0.004, { kind: "dropAfter" }],
] as const;

const BUS_FAULTS = [
  ["request lost", 0.01, { kind: "dropBefore" }],
  ["reply lost", 0.01, { kind: "dropAfter" }],
] as const;

/** Stripe's events come at least once, in no order, and an outsider sends some too. */
const WEBHOOK_FAULTS = [
  ["sent twice", 0.05, { kind: "duplicate" }],
  ["a second one of the same change", 0.03, { kind: "secondEvent" }],
  ["late", 0.05, { kind: "delayArrival", ms: 2_000 }],
  ["forged", 0.03, { kind: "forged" }],
  ["stale", 0.02, { kind: "stale", ms: 301_000 }],
] as const;

/** Arms the faults that hit single requests. */
export function armSingleFaults(
  { table, stripe, queue, bus }: Stack,
  chance: Chance,
): PlannedFault[] {
  const some = (share: number) => ({ times: Infinity, where: () => chance.happens(share) });
  const arm = <F>(
    where: string,
    faults: { add: (match: { times: number; where: () => boolean }, fault: F) => ArmedFault },
    all: readonly (readonly [what: string, share: number, F])[],
  ) =>
    all.map(([what, share, fault]): PlannedFault => {
      const { happened } = faults.add(some(share), fault);
      return { what: `${where}: ${what}`, happened };
    });
  return [
    ...arm("table", table.faults, TABLE_FAULTS),
    ...arm("Stripe", stripe.faults, STRIPE_FAULTS),
    ...arm("queue", queue.faults, QUEUE_FAULTS),
    ...arm("bus", bus.faults, BUS_FAULTS),
    ...arm("event", stripe.webhooks.faults, WEBHOOK_FAULTS),
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
