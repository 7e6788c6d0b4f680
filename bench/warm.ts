// CPU per message in processes that have run many batches before. Two processes of the same code
// differ by a few percent, however long each runs: so a process is one sample.

import { setTimeout as sleep } from "node:timers/promises";

import { startProgress } from "../cli/terminal/progress.ts";
import { newBatch } from "./events.ts";
import { ratio, withInterval } from "./report.ts";
import type { Section } from "./report.ts";
import {
  AT_ONCE,
  BATCH,
  BATCHES,
  environment,
  DEPLOYED_MB,
  REAL,
  WARM_ROUNDS,
  WARM_UP,
} from "./settings.ts";
import type { Bench } from "./settings.ts";
import { average, meanOf, ratioOf } from "./statistics.ts";
import type { Variant } from "./variants.ts";
import { startWorker } from "./worker.ts";
import type { Worker } from "./worker.ts";

type Sample = { cpuMs: number; peakMb: number };
type Samples = { name: string; cpuMs: number[]; peakMb: number[] };

/** The worker twice: how far it is from itself is how far off the other ratios may be. */
const MEASURED: readonly (readonly [name: string, variant: Variant])[] = [
  ["worker", "worker"],
  ["the worker again", "worker"],
  ["Powertools", "Powertools"],
  ["Powertools, every lever", "Powertools, every lever"],
  ["floor", "floor"],
];

export async function measureWarm(bench: Bench): Promise<Section> {
  const progress = startProgress("warm batches", WARM_ROUNDS * MEASURED.length * WARM_UP);
  const samples = MEASURED.map(([name]): Samples => ({ name, cpuMs: [], peakMb: [] }));
  for (let round = 0; round < WARM_ROUNDS; round++) {
    const measured = await runRound(bench, () => progress.advance());
    for (const [index, { cpuMs, peakMb }] of measured.entries()) {
      samples[index]?.cpuMs.push(cpuMs);
      samples[index]?.peakMb.push(peakMb);
    }
  }
  progress.done();
  return sectionOf(samples);
}

/** A process of each, all in the same seconds, so that what disturbs one disturbs them all. */
async function runRound({ servers, bundles }: Bench, advance: () => void): Promise<Sample[]> {
  const env = environment(servers.addresses, DEPLOYED_MB);
  const workers: Worker[] = [];
  for (const [, variant] of MEASURED) {
    workers.push(await startWorker(bundles.variants[variant].path, env));
  }
  await servers.setLatency(AT_ONCE);
  await Promise.all(
    workers.map(async (worker) => {
      for (let i = 0; i < WARM_UP; i++) {
        await worker.invoke(newBatch(BATCH));
        advance();
      }
    }),
  );
  await servers.setLatency(REAL);
  const samples = await Promise.all(workers.map(measure));
  await Promise.all(workers.map((worker) => worker.kill()));
  return samples;
}

/** They wait most of the time: each begins in a wait of the others. */
async function measure(worker: Worker, index: number): Promise<Sample> {
  await sleep((index * (REAL.table * 2 + REAL.stripe)) / MEASURED.length);
  let cpuMs = 0;
  let peakMb = 0;
  for (let i = 0; i < BATCHES; i++) {
    const done = await worker.invoke(newBatch(BATCH));
    cpuMs += done.cpuMs / (BATCHES * BATCH);
    peakMb = done.peakMb;
  }
  return { cpuMs, peakMb };
}

function sectionOf(samples: readonly Samples[]): Section {
  const cpuOf = (wanted: string) => samples.find(({ name }) => name === wanted)?.cpuMs ?? [];
  const beside = (other: string, target?: number) =>
    ratio(`CPU per message × ${other}`, ratioOf(cpuOf("worker"), cpuOf(other)), target);
  const figure = (name: string, show: (seen: Samples) => string) => ({
    figure: name,
    seen: Object.fromEntries(samples.map((seen) => [seen.name, show(seen)])),
  });
  return {
    comparisons: [
      beside("floor", 4.1),
      beside("Powertools", 0.92),
      beside("Powertools, every lever"),
      beside("the worker again"),
    ],
    figures: [
      figure("CPU per message, warm, ms", ({ cpuMs }) => withInterval(meanOf(cpuMs), 2)),
      figure("peak memory, MB", ({ peakMb }) => average(peakMb).toFixed(0)),
    ],
  };
}
