// npm run capacity: what a rate of payments needs and costs, and which limit is hit first.

import { number, readArguments } from "../cli/terminal/arguments.ts";
import { runCommand, UsageError } from "../cli/terminal/command.ts";
import { table } from "../cli/terminal/table.ts";
import { DEFAULT_TIMINGS } from "../lib/timing/payments.ts";
import { compare } from "./capacity/compare.ts";
import { LATENCY_OPTIONS, readLatency } from "./capacity/latency-options.ts";
import { EVENT_SOURCE_CONCURRENCY, limitsOf } from "./capacity/limits.ts";
import { partsFor } from "./capacity/parts.ts";
import { planFor, totalOf } from "./capacity/plan.ts";
import type { Load, Plan } from "./capacity/plan.ts";

const PERCENT = [0, 100] as const;

const COMMAND = {
  name: "capacity",
  usage: "npm run capacity -- --rate 15",
  about: "Settings, costs and limits for a load of payments.",
  options: {
    rate: number("N", "payments per second", [0.001, 100_000]),
    ...LATENCY_OPTIONS,
    "stripe-rate": number(
      "N",
      "PaymentIntents per second that Stripe allows",
      [1, 1_000_000],
      DEFAULT_TIMINGS.apiRequestsPerSecond,
    ),
    window: number("S", "seconds that a batch may gather", [0, 300], 0),
    duplicates: number("N", "messages that arrive twice, in % of the payments", PERCENT, 1),
    retries: number("N", "charges that fail once and are tried again, in %", PERCENT, 1),
  },
  notes: `
Charges take times of a log-normal distribution: your own median and p99 are chargeMs in the worker's
log (docs/observability.md has the query). Waiting and the other settings come from a simulation.`,
};

await runCommand(async () => {
  const { values } = readArguments(COMMAND);
  const { rate, "stripe-rate": stripePerSecond } = values;
  if (rate === undefined) throw new UsageError("--rate is missing: payments per second.");
  process.stdout.write(
    report({
      rate,
      latency: readLatency(values),
      stripePerSecond,
      duplicates: values.duplicates / 100,
      retries: values.retries / 100,
      windowMs: 1_000 * values.window,
    }),
  );
});

function report(load: Load): string {
  const plan = planFor(load);
  const { medianMs, p99Ms } = load.latency;
  const sources = Math.ceil(plan.concurrency / EVENT_SOURCE_CONCURRENCY);
  return [
    `${perSecond(load.rate)} payments, a median of ${medianMs} ms and a p99 of ${p99Ms} ms at Stripe, ${perSecond(load.stripePerSecond)} allowed there`,
    "",
    `batch size          ${plan.batchSize}${load.windowMs > 0 ? `, gathered for up to ${load.windowMs / 1_000} s` : ""}`,
    `concurrency         ${plan.concurrency}${sources > 1 ? `, over ${sources} queues` : ""}`,
    `memory              ${plan.memoryMb} MB`,
    `a full batch takes  ${plan.batchMs.toFixed(0)} ms, for it waits for its slowest charge`,
    `carries             ${carries(load.rate, plan.sustained)}`,
    `table writes        ${perSecond(plan.writeUnitsPerSecond)} units`,
    "",
    otherSettings(load, plan),
    "",
    "cost per million payments",
    ...Object.entries(plan.costs).map(
      ([service, cost]) => `  ${service.padEnd(16)}${dollars(cost)}`,
    ),
    `  ${"total".padEnd(16)}${dollars(totalOf(plan))}`,
    "",
    "cost per million of each part around the worker",
    ...partsFor(load).map(
      ({ name, million, cost }) => `  ${name.padEnd(18)}${dollars(cost)}  ${million}`,
    ),
    "",
    "limits, in the order in which they are reached",
    ...limitsOf(load, plan).map(
      ({ name, reachedAt, remedy }) =>
        `  ${perSecond(reachedAt).padStart(10)}  ${name}${reachedAt <= load.rate ? `: ${remedy}` : ""}`,
    ),
    "",
  ].join("\n");
}

function otherSettings(load: Load, plan: Plan): string {
  const rows = compare(load, plan).map((one) => [
    `${one.batchSize} × ${one.concurrency}${one.batchSize === plan.batchSize ? " (planned)" : ""}`,
    `$${one.cost.toFixed(2)}`,
    one.perSlot.toFixed(1),
    perSecond(one.sustained),
    one.sustained < load.rate ? "grows" : seconds(one.waitMs.median),
    one.sustained < load.rate ? "grows" : seconds(one.waitMs.p99),
  ]);
  return table(
    ["simulated", "per million", "per slot, /s", "carries", "sent to outcome, median", "p99"],
    rows,
  );
}

function carries(asked: number, sustained: number): string {
  const payments = perSecond(sustained);
  if (sustained >= asked) return `${payments} payments`;
  return `${payments}, less than the ${perSecond(asked)} asked for: a burst waits, a steady load grows the queue by ${perSecond(asked - sustained)}; ask Stripe for a higher rate (--stripe-rate)`;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

function dollars(cost: number): string {
  return `$${cost.toFixed(2)}`.padStart(9);
}

function perSecond(rate: number): string {
  return `${Number(rate.toPrecision(3)).toLocaleString("en")}/s`;
}
