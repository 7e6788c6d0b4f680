// npm run load: how many payments a slot makes while charges take their time, and how long each takes.
import { flag, integer, number, readArguments } from "../cli/terminal/arguments.ts";
import { interruptSignal, runCommand, UsageError } from "../cli/terminal/command.ts";
import { build } from "../scripts/build.ts";
import { LATENCY_OPTIONS, readLatency } from "../scripts/capacity/latency-options.ts";
import { planFor } from "../scripts/capacity/plan.ts";
import { conclude, printWrong } from "./harness/report.ts";
import { isKept } from "./harness/verdict.ts";
import { load } from "./load/load.ts";
import { problemsOf, loadTable, memoryTable, ordersTable, simulatedLine } from "./load/report.ts";

const COMMAND = {
  name: "load",
  usage: "npm run load -- [options]",
  about: `
The whole local system under load, while every charge takes its time at Stripe. For half of the
time the queue is never empty: what the slots (concurrent executions of the worker) make then, and
what they would make if a batch took no longer than its slowest charge. Then payments come by chance
at four fifths of that: how long each takes from sent to its outcome. 1 % of the messages come twice.
The built bundles in their own processes, on this machine only, with the deployed timings.`,
  options: {
    rate: number(
      "N",
      "payments per second that the slots are for, as npm run capacity plans",
      [0.1, 1_000],
      15,
    ),
    minutes: number("N", "how long payments come", [0.01, 1_440], 4),
    payments: integer(
      "N",
      "full load until so many are done, in place of minutes",
      [100, 10_000_000],
    ),
    ...LATENCY_OPTIONS,
    door: flag(
      "orders through the payment API, at four fifths of the rate, until they are shipped",
    ),
    seed: integer("S", "repeats another run's latencies", [0, 2 ** 32 - 1], 1),
  },
  notes: `
With --door, the end waits for a minute: a client that asks again while its payment is in progress makes
a second message, which is a duplicate once the lease is over.
Figures count only while this machine is no bottleneck; the last column of the table says so: how
busy the one thread of all servers was, how late its timers were, and what the processors had left.
Ctrl-C ends it at once, with what there is so far. Exit status 0 when every payment was charged once
and has its outcome, a slot made 90 % of what the charges allow, and no worker holds more memory at
the end; 1 when not.`,
};

await runCommand(async () => {
  const { values } = readArguments(COMMAND);
  const { rate, payments, door, seed } = values;
  const latency = readLatency(values);
  if (door && payments !== undefined)
    throw new UsageError("--door takes --minutes, not --payments.");
  const interrupted = interruptSignal();
  await build();
  const wanted = {
    rate,
    latency,
    stripePerSecond: Math.max(25, (rate * 25) / 15), // what Stripe allows is for 15 per second
    duplicates: 0.01,
    retries: 0.01,
    windowMs: 0,
  };
  const plan = planFor(wanted);
  console.log(
    `${plan.concurrency} slots with batches of ${plan.batchSize}; charges take ${latency.medianMs} ms in the median and ${latency.p99Ms} ms at the 99th percentile. Seed ${seed}.`,
  );
  const result = await load({
    plan,
    latency,
    ms: values.minutes * 60_000,
    payments,
    ordersPerSecond: door ? 0.8 * rate : undefined,
    seed,
    interrupted,
    report: console.log,
  });
  const { verdict, orders, memory } = result;
  const { aborted } = interrupted;
  console.log(`\n${[loadTable(result), ...simulatedLine(result, plan, wanted)].join("\n")}\n`);
  console.log(`${memoryTable(memory)}\n`);
  if (orders) console.log(`${ordersTable(orders, verdict)}\n`);
  printWrong(verdict, aborted);
  const problems = aborted ? [] : problemsOf(result);
  for (const sentence of problems) console.log(sentence);
  const counts = {
    messages: verdict.rows.length,
    repeats: result.repeats,
    deliveries: result.deliveries,
    charges: verdict.charges,
    doubled: verdict.doubled,
    lost: verdict.lost.length,
  };
  conclude(counts, isKept(verdict, aborted), aborted);
  if (problems.length > 0) process.exitCode = 1;
});
