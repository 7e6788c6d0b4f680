// Cold starts: until a worker is ready, and until its first batch of ten is finished.

import { startProgress } from "../cli/terminal/progress.ts";
import { newBatch } from "./events.ts";
import { ratio, withInterval } from "./report.ts";
import type { Comparison, Section } from "./report.ts";
import { BATCH, COLD_ROUNDS, environment, MEMORY_MB, REAL } from "./settings.ts";
import type { Bench } from "./settings.ts";
import { meanOf, ratioOf } from "./statistics.ts";
import { takeTurns, VARIANTS } from "./variants.ts";
import type { Variant } from "./variants.ts";
import { startWorker } from "./worker.ts";

const WHOLE_CPU_MB = 1_769;
/** Powertools where a cold start hurts, and what the warm-up is worth at any size. */
const MEASURED = new Map<number, readonly Variant[]>([
  [256, VARIANTS],
  [MEMORY_MB, VARIANTS],
  [1_024, ["worker", "worker, no warm-up"]],
  [WHOLE_CPU_MB, ["worker", "worker, no warm-up"]],
]);

type Samples = {
  readyMs: number[];
  /** From the start of the process to the end of the first batch. */
  finishedMs: number[];
  cpuMs: number[];
};
type ByVariant = Partial<Record<Variant, Samples>>;

export async function measureCold(bench: Bench): Promise<Section> {
  const sizes = bench.throttle
    ? MEASURED
    : new Map<number, readonly Variant[]>([[WHOLE_CPU_MB, VARIANTS]]);
  const starts = [...sizes.values()].flat().length;
  const progress = startProgress("cold starts", COLD_ROUNDS * starts);
  const samples = new Map<number, ByVariant>();
  await bench.servers.setLatency(REAL);
  for (let round = 0; round < COLD_ROUNDS; round++) {
    for (const [mb, variants] of sizes) {
      const ofSize = samples.get(mb) ?? {};
      samples.set(mb, ofSize);
      await takeTurns(round, variants, async (variant) => {
        const seen = (ofSize[variant] ??= { readyMs: [], finishedMs: [], cpuMs: [] });
        const { readyMs, finishedMs, cpuMs } = await start(bench, variant, mb);
        seen.readyMs.push(readyMs);
        seen.finishedMs.push(finishedMs);
        seen.cpuMs.push(cpuMs);
        progress.advance();
      });
    }
  }
  progress.done();
  return { comparisons: comparisonsOf(samples), figures: figuresOf(samples) };
}

async function start({ servers, bundles, throttle }: Bench, variant: Variant, mb: number) {
  const env = environment(servers.addresses, mb);
  const worker = await startWorker(bundles.variants[variant].path, env);
  throttle?.apply(worker.pid, mb);
  const { wallMs, totalCpuMs } = await worker.invoke(newBatch(BATCH));
  await worker.kill();
  return { readyMs: worker.readyMs, finishedMs: worker.readyMs + wallMs, cpuMs: totalCpuMs };
}

function comparisonsOf(samples: ReadonlyMap<number, ByVariant>): Comparison[] {
  const beside = (
    figure: string,
    mb: number,
    what: keyof Samples,
    other: Variant,
    target?: number,
  ) => {
    const { worker, [other]: others } = samples.get(mb) ?? {};
    if (!worker || !others) return [];
    return [ratio(figure, ratioOf(worker[what], others[what]), target)];
  };
  const finished = (mb: number, other: Variant, target?: number) =>
    beside(`first batch finished, ${mb} MB, × ${other}`, mb, "finishedMs", other, target);
  return [
    ...finished(MEMORY_MB, "Powertools", 0.58),
    ...finished(MEMORY_MB, "Powertools, warmed up", 0.95),
    ...finished(MEMORY_MB, "Powertools, every lever"),
    ...finished(256, "Powertools", 0.48),
    ...finished(256, "Powertools, warmed up"),
    ...finished(256, "Powertools, every lever"),
    ...beside("ready × Powertools", MEMORY_MB, "readyMs", "Powertools"),
    ...beside("ready × Powertools, warmed up", MEMORY_MB, "readyMs", "Powertools, warmed up"),
  ];
}

function figuresOf(samples: ReadonlyMap<number, ByVariant>) {
  const row = (figure: string, ofSize: ByVariant, what: keyof Samples) => ({
    figure,
    seen: Object.fromEntries(
      Object.entries(ofSize).map(([variant, seen]) => [variant, withInterval(meanOf(seen[what]))]),
    ),
  });
  return [...samples].flatMap(([mb, ofSize]) => [
    row(`ready, ${mb} MB, ms`, ofSize, "readyMs"),
    row(`ready + first batch of ten, ${mb} MB, ms`, ofSize, "finishedMs"),
    ...(mb === MEMORY_MB ? [row(`CPU of that, ${mb} MB, ms`, ofSize, "cpuMs")] : []),
  ]);
}
