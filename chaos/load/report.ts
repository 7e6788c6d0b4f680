// What a load prints, and what it must show.
import { table } from "../../cli/terminal/table.ts";
import { arrivals, simulatePlan } from "../../scripts/capacity/compare.ts";
import { FULL_CPU_MB } from "../../scripts/capacity/plan.ts";
import type { Load, Plan } from "../../scripts/capacity/plan.ts";
import { seededRandom } from "../../simulation/search/random.ts";
import type { Verdict } from "../harness/verdict.ts";
import type { LoadResult } from "./load.ts";
import type { Grown, Memory } from "./memory.ts";
import type { Machine, Measured } from "./meter.ts";
import type { Orders } from "./orders.ts";

const SHARE = 0.9;
const TOO_BUSY = 0.7;
const TOO_LATE_MS = 50;
const TOO_FULL = 0.1;
/** Enough payments for a leak of a few bytes to stand out from what a warm heap does by itself. */
const MANY = 50_000;
const LEAK_BYTES = 64;

export function loadTable({ full, steady, orders }: LoadResult): string {
  const rows = [
    ...(full ? [row("full load", full, true)] : []),
    ...(steady
      ? [row(`${steady.rate.toFixed(1)}/s, ${orders ? "orders" : "80 %"}`, steady, false)]
      : []),
  ];
  return table(
    [
      "",
      "payments",
      "/s in a slot",
      "charges allow",
      "share",
      "in a batch",
      "p50",
      "p99",
      "machine",
    ],
    rows,
  );
}

function row(what: string, measured: Measured, isFull: boolean): string[] {
  const { messages, batches, perSlot, allowedPerSlot, outcomeMs, machine } = measured;
  return [
    what,
    messages.toLocaleString("en"),
    perSlot.toFixed(2),
    // Slots that wait for payments make less than they could.
    isFull ? allowedPerSlot.toFixed(2) : "",
    isFull ? percent(perSlot / allowedPerSlot) : "",
    (messages / batches).toFixed(1),
    // At full load a payment waits behind the stock.
    isFull ? "" : seconds(outcomeMs.p50),
    isFull ? "" : seconds(outcomeMs.p99),
    describe(machine),
  ];
}

/** What the simulated queue says of the same rate, on a whole processor. */
export function simulatedLine({ steady, orders }: LoadResult, plan: Plan, load: Load): string[] {
  if (!steady || orders) return [];
  const random = seededRandom(1);
  const times = arrivals(steady.rate, 10_000, random);
  const settings = { ...plan, memoryMb: FULL_CPU_MB };
  const { waitMs } = simulatePlan(load, settings, times, random);
  return [
    `Simulated at ${steady.rate.toFixed(1)}/s: ${seconds(waitMs.median)} in the median, ${seconds(waitMs.p99)} at the 99th percentile.`,
  ];
}

function describe(machine: Machine): string {
  const { serversBusy, delayMs, idle } = machine;
  return `${isBottleneck(machine) ? "BOTTLENECK: " : ""}servers ${percent(serversBusy)} busy, timers ${delayMs.toFixed(0)} ms late, ${percent(idle)} idle`;
}

function isBottleneck({ serversBusy, delayMs, idle }: Machine): boolean {
  return serversBusy > TOO_BUSY || delayMs > TOO_LATE_MS || idle < TOO_FULL;
}

export function memoryTable({ worker, servers }: Memory): string {
  const rows = [
    ["the worker that grew most", worker],
    ["the servers, which keep every payment", servers],
  ] as const;
  return table(
    ["memory", "heap, early", "late", "a payment", "resident, early", "late"],
    rows.flatMap(([what, grown]) => (grown ? [[what, ...memoryRow(grown)]] : [])),
  );
}

function memoryRow({ early, late, bytesPerPayment, payments }: Grown): string[] {
  const perPayment = payments < MANY ? "too few" : `${bytesPerPayment.toFixed(0)} bytes`;
  return [mb(early.heap), mb(late.heap), perPayment, mb(early.rss), mb(late.rss)];
}

export function ordersTable(orders: Orders, verdict: Verdict): string {
  const { p50, p99 } = orders.shippedMs();
  return [
    `${orders.orders} orders: ${orders.requests} HTTP requests (${orders.repeats} clients asked again though they were answered), ${orders.accepted} answered 202, ${verdict.charges} charges, ${verdict.shipped} shipments.`,
    `From the first request to the shipment: ${seconds(p50)} in the median, ${seconds(p99)} at the 99th percentile.`,
  ].join("\n");
}

/** What a run that was not interrupted fails by, beside the guarantee; a sentence each. */
export function problemsOf({ full, steady, orders, memory, verdict }: LoadResult): string[] {
  const problems: string[] = [];
  // A run to see memory is as fast as this machine.
  if (full && steady && full.perSlot < SHARE * full.allowedPerSlot) {
    problems.push(
      isBottleneck(full.machine)
        ? "This machine was the bottleneck: take a lower --rate, or a quiet machine."
        : `A slot made less than ${percent(SHARE)} of what the charges allow.`,
    );
  }
  if (
    orders &&
    new Set([orders.orders, orders.accepted, verdict.charges, verdict.shipped]).size > 1
  ) {
    problems.push("Orders, 202s, charges and shipments are not equally many.");
  }
  const { worker } = memory;
  if (worker && worker.payments >= MANY && worker.bytesPerPayment > LEAK_BYTES) {
    problems.push(`A worker keeps ${worker.bytesPerPayment.toFixed(0)} bytes of each payment.`);
  }
  return problems;
}

const percent = (share: number): string => `${(100 * share).toFixed(0)} %`;
const seconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`;
const mb = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MB`;
