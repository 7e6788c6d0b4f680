// npm run capacity: what a rate of payments needs and costs, and which limit is hit first.

import { readArguments, runCommand, UsageError } from "../cli/terminal/command.ts";
import { DEFAULT_TIMINGS } from "../lib/timing/payments.ts";
import { EVENT_SOURCE_CONCURRENCY, limitsOf } from "./capacity/limits.ts";
import { planFor } from "./capacity/plan.ts";
import type { Load } from "./capacity/plan.ts";

const HELP = `
Settings, costs and limits for a load of payments.

  npm run capacity -- --rate 15

  --rate         payments per second, 0.001 to 100000
  --latency      ms that Stripe takes for a charge (${DEFAULT_TIMINGS.apiLatencyMs})
  --stripe-rate  PaymentIntents per second that Stripe allows (${DEFAULT_TIMINGS.apiRequestsPerSecond}, its default)
  --duplicates   messages that arrive twice, in % of the payments (1)
  --retries      charges that fail once and are tried again, in % of the payments (1)
`;

await runCommand(async () => {
  const { values } = readArguments(HELP, {
    rate: { type: "string" },
    latency: { type: "string", default: String(DEFAULT_TIMINGS.apiLatencyMs) },
    "stripe-rate": { type: "string", default: String(DEFAULT_TIMINGS.apiRequestsPerSecond) },
    duplicates: { type: "string", default: "1" },
    retries: { type: "string", default: "1" },
  });
  if (values.rate === undefined) throw new UsageError("--rate is missing: payments per second.");
  process.stdout.write(
    report({
      rate: within("--rate", values.rate, 0.001, 100_000),
      latencyMs: within("--latency", values.latency, 1, 20_000),
      stripePerSecond: within("--stripe-rate", values["stripe-rate"], 1, 1_000_000),
      duplicates: within("--duplicates", values.duplicates, 0, 100) / 100,
      retries: within("--retries", values.retries, 0, 100) / 100,
    }),
  );
});

function within(option: string, given: string, least: number, most: number): number {
  const value = /^\d+(\.\d+)?$/.test(given) ? Number(given) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new UsageError(`${option} must be a number from ${least} to ${most}.`);
}

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
