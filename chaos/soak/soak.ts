// A soak: producers send for a while and everything goes wrong meanwhile; then it is quiet, and every
// message must come to its end.
import type { Stack } from "../../local/stack.ts";
import { openHarness } from "../harness/harness.ts";
import type { Harness, PlannedFault } from "../harness/harness.ts";
import { reportNowAndThen } from "../harness/report.ts";
import type { Sent } from "../harness/verdict.ts";
import { drained, pause } from "../harness/wait.ts";
import { SOAK } from "../timings.ts";
import { startBank } from "./bank.ts";
import type { Bank } from "./bank.ts";
import { chanceOf } from "./chance.ts";
import { armSingleFaults, startOutages } from "./faults.ts";
import { startKiller } from "./killer.ts";
import { createProducer, payOverHttp } from "./producer.ts";

// Enough for the pollers, and not so much that a message is old when its turn comes.
const VISIBLE = 40;
const REDRIVE_EVERY_MS = 30_000;
const STRIPE_FORGETS_MS = 25 * 60 * 60 * 1_000;

/**
 * Runs a soak of `ms`, and the time until every queue has run empty. When `interrupted` aborts, it ends
 * at once, and the verdict is of what is done by then.
 */
export async function soak(options: {
  ms: number;
  seed: number;
  interrupted: AbortSignal;
  /** Gets a line on how it goes, every few seconds. */
  report: (line: string) => void;
}) {
  const { interrupted } = options;
  const chance = chanceOf(options.seed);
  const harness = await openHarness(SOAK, "everything");
  const { stack, deliveries, killsOf } = harness;
  const kills = (): number => stack.functions.reduce((total, { name }) => total + killsOf(name), 0);
  const during = AbortSignal.any([interrupted, AbortSignal.timeout(options.ms)]);
  let phase = `everything goes wrong for ${options.ms / 1_000} s`;
  const reported = reportNowAndThen(
    stack,
    options.report,
    (waiting, dead) =>
      `${phase}: ${harness.sent()} sent, ${waiting} in the queue, ${dead} in the dead-letter queue, ${kills()} kills`,
  );
  try {
    const single = armSingleFaults(stack, chance);
    const outages = startOutages(stack, chance, during);
    const killer = startKiller(harness, chance, during);
    const bank = startBank(stack, chance, during);
    await Promise.all([
      produce(harness, createProducer(chance), during),
      payOverHttp(harness, chance, during),
      redriveNowAndThen(harness, during),
      bank.ended,
      killer.ended,
      outages.ended,
    ]);
    const { table, queue, stripe, bus } = stack;
    for (const { faults } of [table, queue, stripe, stripe.webhooks, bus]) faults.removeAll();
    phase = "quiet, for about a minute";
    if (!interrupted.aborted) await drain(harness, bank, interrupted);
    for (const one of stack.functions) await one.stop(interrupted.aborted ? 0 : undefined);
    const frozen: PlannedFault = { what: "a worker was frozen", happened: killer.freezes };
    return {
      verdict: await harness.verdict(),
      deliveries: deliveries.count(),
      kills: kills(),
      faults: [...single, ...outages.planned, frozen],
    };
  } finally {
    await reported();
    await stack.stop();
  }
}

/** Keeps a stock of visible messages, whatever the speed of the workers. */
async function produce(
  { stack, send }: Harness,
  next: () => Sent[],
  signal: AbortSignal,
): Promise<void> {
  while (await pause(20, signal)) {
    const { visible } = await stack.queue.depth(stack.queues.queueUrl);
    if (await isBehind(stack)) continue;
    for (let stock = visible; stock < VISIBLE; stock++) {
      for (const message of next()) await send(message);
    }
  }
}

const AROUND = ["stripe-events", "orders"] as const;

const urlOf = ({ queue }: Stack, name: string): string => `${queue.url}/000000000000/${name}`;

/** Whether the functions behind the worker have more to do than they can. */
async function isBehind(stack: Stack): Promise<boolean> {
  const depths = await Promise.all(AROUND.map((name) => stack.queue.depth(urlOf(stack, name))));
  return depths.some(({ visible }) => visible > 5 * VISIBLE);
}

async function redriveAll({ redrive }: Harness): Promise<void> {
  for (const name of ["payments", ...AROUND]) await redrive(name);
}

async function redriveNowAndThen(harness: Harness, signal: AbortSignal): Promise<void> {
  while (await pause(REDRIVE_EVERY_MS, signal)) await redriveAll(harness);
}

/**
 * Without faults every message comes to its end. What Stripe has a 500 stored for must wait until
 * Stripe has forgotten the key.
 */
async function drain(harness: Harness, bank: Bank, interrupted: AbortSignal): Promise<void> {
  const { stack, advanceServers } = harness;
  const quiet = async (): Promise<void> => {
    await drained(stack, interrupted);
    bank.decideAll();
    await drained(stack, interrupted);
  };
  await quiet();
  const forget = (): void => {
    advanceServers(STRIPE_FORGETS_MS);
    // The functions' clocks are not moved: Stripe's events must be signed by those.
    const stale = { kind: "stale", ms: STRIPE_FORGETS_MS } as const;
    stack.stripe.webhooks.faults.add({ times: Infinity }, stale);
  };
  for (const step of [() => {}, forget]) {
    if (interrupted.aborted) return;
    step();
    await redriveAll(harness);
    await quiet();
  }
}
