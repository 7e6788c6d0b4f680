// A soak: producers send for a while and everything goes wrong meanwhile; then it is quiet, and every
// message must come to its end.
import { chanceOf } from "./chance.ts";
import { armSingleFaults, startOutages } from "./faults.ts";
import type { Planned } from "./faults.ts";
import { createKiller } from "./killer.ts";
import { redrive } from "./operator.ts";
import { pause } from "./pause.ts";
import { startProducer } from "./producer.ts";
import { openSite } from "./site.ts";
import type { Site } from "./site.ts";
import { judge } from "./verdict.ts";
import type { Verdict } from "./verdict.ts";

export type Soaked = {
  verdict: Verdict;
  deliveries: number;
  kills: number;
  planned: Planned[];
};

export type Progress = {
  phase: string;
  sent: number;
  /** In the queue, hidden ones too. */
  waiting: number;
  deadLetters: number;
  kills: number;
};

// Enough for the pollers, and not so much that a message is old when its turn comes.
const VISIBLE = 40;
const REDRIVE_EVERY_MS = 30_000;
const SETTLED_MS = 300_000;
const STRIPE_FORGETS_MS = 25 * 60 * 60 * 1_000;

/**
 * Runs a soak of `ms`, and the time until everything has settled. When `interrupted` aborts, it ends
 * at once, and the verdict is of what is done by then.
 */
export async function soak(options: {
  ms: number;
  seed: number;
  interrupted: AbortSignal;
  tell: (progress: Progress) => void;
}): Promise<Soaked> {
  const { interrupted } = options;
  const chance = chanceOf(options.seed);
  const killer = createKiller();
  const site = await openSite(killer.onEvent);
  const { stack } = site;
  const during = AbortSignal.any([interrupted, AbortSignal.timeout(options.ms)]);
  const done = new AbortController();
  let phase = "everything goes wrong";

  const report = async (): Promise<void> => {
    while (await pause(5_000, done.signal)) {
      const { visible, inFlight, delayed } = await stack.queue.depth(stack.queues.queueUrl);
      const dead = await stack.queue.depth(stack.queues.dlqUrl);
      const waiting = visible + inFlight + delayed;
      const sent = site.sent.length;
      options.tell({ phase, sent, waiting, deadLetters: dead.visible, kills: killer.kills() });
    }
  };
  const reporting = report();
  try {
    const single = armSingleFaults(stack, chance);
    const outages = startOutages(stack, chance, during);
    await Promise.all([
      produce(site, startProducer(chance), during),
      redriveNowAndThen(site, during),
      killer.run(stack, chance, during),
      outages.ended,
    ]);
    for (const { faults } of [stack.table, stack.queue, stack.stripe]) faults.removeAll();
    phase = "settling";
    if (!interrupted.aborted) await settle(site, interrupted);
    await stack.eventSource.stop(interrupted.aborted ? 0 : undefined);
    const verdict = judge(await site.evidence());
    const planned = [...single, ...outages.planned, { name: "frozen", happened: killer.freezes }];
    return { verdict, deliveries: site.deliveries(), kills: killer.kills(), planned };
  } finally {
    done.abort();
    await reporting;
    await stack.stop();
  }
}

/** Keeps a stock of visible messages, whatever the speed of the workers. */
async function produce(
  { stack, send }: Site,
  producer: ReturnType<typeof startProducer>,
  signal: AbortSignal,
): Promise<void> {
  while (await pause(20, signal)) {
    const { visible } = await stack.queue.depth(stack.queues.queueUrl);
    for (let stock = visible; stock < VISIBLE; stock++) {
      for (const message of producer.next()) await send(message);
    }
  }
}

async function redriveNowAndThen({ sqs, stack }: Site, signal: AbortSignal): Promise<void> {
  while (await pause(REDRIVE_EVERY_MS, signal)) await redrive(sqs, stack.queues.dlqArn);
}

/**
 * Without faults every message comes to its end. What Stripe has a 500 stored for must wait until
 * Stripe has forgotten the key.
 */
async function settle(
  { stack, sqs, advanceServers }: Site,
  interrupted: AbortSignal,
): Promise<void> {
  const { dlqArn } = stack.queues;
  const isOver = new Promise<void>((resolve) => {
    interrupted.addEventListener("abort", () => resolve());
  });
  const drained = () => Promise.race([stack.drained(SETTLED_MS).catch(() => {}), isOver]);
  await drained();
  for (const step of [() => {}, () => advanceServers(STRIPE_FORGETS_MS)]) {
    if (interrupted.aborted) return;
    step();
    await redrive(sqs, dlqArn);
    await drained();
  }
}
