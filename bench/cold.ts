// Cold starts: until a worker is ready, and until its first batch of ten is finished.

import { startProgress } from "../cli/terminal/progress.ts";
import { newBatch } from "./events.ts";
import { ratio, withInterval } from "./report.ts";
import type { Comparison, Figure, Section } from "./report.ts";
import { BATCH, COLD_ROUNDS, DEPLOYED_MB, environment, REAL } from "./settings.ts";
import type { Bench } from "./settings.ts";
import { meanOf, ratioOf } from "./statistics.ts";
import { takeTurns, VARIANTS } from "./variants.ts";
import type { Variant } from "./variants.ts";
import { startWorker } from "./worker.ts";

const WHOLE_CPU_MB = 1_769;
const PLAIN = ["worker", "worker, no warm-up", "Powertools"] as const;
const OURS = ["worker", "worker, no warm-up"] as const;

type Case = { mb: number; batch: number; variants: readonly Variant[] };
/** Powertools where a cold start hurts, and what the warm-up is worth at any size. */
const CASES: readonly Case[] = [
  { mb: DEPLOYED_MB, batch: BATCH, variants: VARIANTS },
  { mb: DEPLOYED_MB, batch: 1, variants: PLAIN }, // nine connections were opened for nothing
  { mb: 512, batch: BATCH, variants: VARIANTS },
  { mb: 1_024, batch: BATCH, variants: OURS },
  { mb: WHOLE_CPU_MB, batch: BATCH, variants: OURS },
];
const UNTHROTTLED: readonly Case[] = [{ mb: WHOLE_CPU_MB, batch: BATCH, variants: VARIANTS }];

type Sample = {
  readyMs: number;
  /** From the start of the process to the end of the first batch. */
  finishedMs: number;
  initCpuMs: number;
  batchCpuMs: number;
};
type Measured = Case & { samples: Partial<Record<Variant, Sample[]>> };

export async function measureCold(bench: Bench): Promise<Section> {
  const cases = (bench.throttle ? CASES : UNTHROTTLED).map((one): Measured => ({
    ...one,
    samples: {},
  }));
  const starts = cases.flatMap(({ variants }) => variants).length;
  const progress = startProgress("cold starts", COLD_ROUNDS * starts);
  await bench.servers.setLatency(REAL);
  for (let round = 0; round < COLD_ROUNDS; round++) {
    for (const one of cases) {
      await takeTurns(round, one.variants, async (variant) => {
        (one.samples[variant] ??= []).push(await start(bench, variant, one));
        progress.advance();
      });
    }
  }
  progress.done();
  return { comparisons: comparisonsOf(cases), figures: cases.flatMap(figuresOf) };
}

async function start(
  { servers, bundles, throttle }: Bench,
  variant: Variant,
  { mb, batch }: Case,
): Promise<Sample> {
  const env = environment(servers.addresses, mb);
  const worker = await startWorker(bundles.variants[variant].path, env);
  throttle?.apply(worker.pid, mb);
  const { readyMs, readyCpuMs: initCpuMs } = worker;
  const { wallMs, cpuMs: batchCpuMs } = await worker.invoke(newBatch(batch));
  await worker.kill();
  return { readyMs, finishedMs: readyMs + wallMs, initCpuMs, batchCpuMs };
}

function comparisonsOf(cases: readonly Measured[]): Comparison[] {
  const beside = (
    [mb, what]: readonly [number, keyof Sample],
    other: Variant,
    target?: number,
  ): Comparison[] => {
    const { samples = {} } = cases.find((one) => one.mb === mb && one.batch === BATCH) ?? {};
    const { worker, [other]: others } = samples;
    if (!worker || !others) return [];
    const figure = `${what === "readyMs" ? "ready" : "first batch finished"}, ${mb} MB, × ${other}`;
    return [ratio(figure, ratioOf(valuesOf(worker, what), valuesOf(others, what)), target)];
  };
  const at512 = [512, "finishedMs"] as const;
  const deployed = [DEPLOYED_MB, "finishedMs"] as const;
  const ready = [DEPLOYED_MB, "readyMs"] as const;
  return [
    ...beside(deployed, "Powertools", 0.48),
    ...beside(deployed, "Powertools, warmed up"),
    ...beside(deployed, "Powertools, every lever"),
    ...beside(at512, "Powertools", 0.58),
    ...beside(at512, "Powertools, warmed up", 0.95),
    ...beside(at512, "Powertools, every lever"),
    ...beside(ready, "Powertools"),
    ...beside(ready, "Powertools, warmed up"),
  ];
}

function figuresOf({ mb, batch, samples }: Measured): Figure[] {
  const row = (figure: string, what: keyof Sample) => ({
    figure: `${figure}, ${mb} MB, ms`,
    seen: Object.fromEntries(
      Object.entries(samples).map(([variant, seen]) => [
        variant,
        withInterval(meanOf(valuesOf(seen, what))),
      ]),
    ),
  });
  if (batch === 1) return [row("ready + first batch of one", "finishedMs")];
  return [
    row("ready", "readyMs"),
    row("ready + first batch of ten", "finishedMs"),
    row("CPU of init", "initCpuMs"),
    row("CPU of the batch", "batchCpuMs"),
  ];
}

const valuesOf = (samples: readonly Sample[], what: keyof Sample) =>
  samples.map((sample) => sample[what]);
