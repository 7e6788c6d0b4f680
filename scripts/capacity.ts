// npm run capacity: what a rate of payments needs and costs, and which limit is hit first.

import { number, readArguments } from "../cli/terminal/arguments.ts";
import { runCommand, UsageError } from "../cli/terminal/command.ts";
import { DEFAULT_TIMINGS } from "../lib/timing/payments.ts";
import { EVENT_SOURCE_CONCURRENCY, limitsOf } from "./capacity/limits.ts";
import { partsFor } from "./capacity/parts.ts";
import { planFor } from "./capacity/plan.ts";
import type { Load } from "./capacity/plan.ts";

const PERCENT = { min: 0, max: 100, fallback: 1 };

const COMMAND = {
  name: "capacity",
  usage: "npm run capacity -- --rate 15",
  about: "Settings, costs and limits for a load of payments.",
  options: {
    rate: number("N", "payments per second", { min: 0.001, max: 100_000 }),
    latency: number("MS", "ms that Stripe takes for a charge", {
      min: 1,
      max: 20_000,
      fallback: DEFAULT_TIMINGS.apiLatencyMs,
    }),
    "stripe-rate": number("N", "PaymentIntents per second that Stripe allows", {
      min: 1,
      max: 1_000_000,
      fallback: DEFAULT_TIMINGS.apiRequestsPerSecond,
    }),
    duplicates: number("N", "messages that arrive twice, in % of the payments", PERCENT),
    retries: number("N", "charges that fail once and are tried again, in %", PERCENT),
  },
};

await runCommand(async () => {
  const { values } = readArguments(COMMAND);
  const { rate, latency: latencyMs, "stripe-rate": stripePerSecond } = values;
  if (rate === undefined) throw new UsageError("--rate is missing: payments per second.");
  const [duplicates, retries] = [values.duplicates / 100, values.retries / 100];
  process.stdout.write(report({ rate, latencyMs, stripePerSecond, duplicates, retries }));
});

function report(load: Load): string {
  const plan = planFor(load);
  const sources = Math.ceil(plan.concurrency / EVENT_SOURCE_CONCURRENCY);
  const total = Object.values(plan.costs).reduce((sum, cost) => sum + cost, 0);
  return [
    `${perSecond(load.rate)} payments, ${load.latencyMs} ms at Stripe, ${perSecond(load.stripePerSecond)} allowed there`,
    "",
    `batch size          ${plan.batchSize}`,
    `concurrency         ${plan.concurrency}${sources > 1 ? `, over ${sources} queues` : ""}`,
    `memory              ${plan.memoryMb} MB`,
    `a full batch takes  ${plan.batchMs.toFixed(0)} ms`,
    `carries             ${carries(load.rate, plan.sustained)}`,
    `table writes        ${perSecond(plan.writeUnitsPerSecond)} units`,
    "",
    "cost per million payments",
    ...Object.entries(plan.costs).map(
      ([service, cost]) => `  ${service.padEnd(16)}${dollars(cost)}`,
    ),
    `  ${"total".padEnd(16)}${dollars(total)}`,
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

function carries(asked: number, sustained: number): string {
  const payments = perSecond(sustained);
  if (sustained >= asked) return `${payments} payments`;
  return `${payments}, less than the ${perSecond(asked)} asked for: a burst waits, a steady load grows the queue by ${perSecond(asked - sustained)}; ask Stripe for a higher rate (--stripe-rate)`;
}

function dollars(cost: number): string {
  return `$${cost.toFixed(2)}`.padStart(9);
}

function perSecond(rate: number): string {
  return `${Number(rate.toPrecision(3)).toLocaleString("en")}/s`;
}
