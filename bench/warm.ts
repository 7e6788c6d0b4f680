// Batches in workers that have run many before.

import { mixedBatch, newBatch } from "./events.ts";
import { BATCH, DUPLICATES, each, NONE, REAL, takeTurns, WARM_ROUNDS, WARM_UP } from "./rounds.ts";
import type { Bench, PerVariant } from "./rounds.ts";
import type { Latency, Servers } from "./servers.ts";
import { summarise } from "./statistics.ts";
import type { Summary } from "./statistics.ts";
import { VARIANTS } from "./variants.ts";
import { startWorker } from "./worker.ts";
import type { Worker } from "./worker.ts";

export type Warm = {
  wallMs: Summary;
  cpuMsPerMessage: Summary;
  /** The same when the servers answer at once: what is left is the variant's own work. */
  overheadMs: Summary;
  overheadCpuMsPerMessage: Summary;
  /** Opened in all measured batches together. */
  newConnections: number;
  peakMb: number;
  /** Messages a second of one worker, by the number of duplicates in a batch. */
  throughput: Record<number, number>;
};

export async function measureWarm({ servers, bundles, env }: Bench): Promise<PerVariant<Warm>> {
  const workers = await each((variant) => startWorker(bundles[variant].path, env));
  await servers.set(NONE);
  for (let i = 0; i < WARM_UP; i++) {
    await takeTurns(i, async (variant) => void (await workers[variant].invoke(newBatch(BATCH))));
  }
  const overhead = await batches(workers, servers, NONE);
  const real = await batches(workers, servers, REAL);
  const throughput = await each((variant) => messagesPerSecond(workers[variant]));
  for (const variant of VARIANTS) await workers[variant].kill();
  return each((variant) => ({
    wallMs: summarise(real[variant].wall, WARM_ROUNDS),
    cpuMsPerMessage: summarise(real[variant].cpu, WARM_ROUNDS),
    overheadMs: summarise(overhead[variant].wall, WARM_ROUNDS),
    overheadCpuMsPerMessage: summarise(overhead[variant].cpu, WARM_ROUNDS),
    newConnections: real[variant].connections,
    peakMb: real[variant].peakMb,
    throughput: throughput[variant],
  }));
}

async function batches(workers: PerVariant<Worker>, servers: Servers, latency: Latency) {
  const samples = await each(() => ({
    wall: [] as number[],
    cpu: [] as number[],
    connections: 0,
    peakMb: 0,
  }));
  for (let round = 0; round < WARM_ROUNDS; round++) {
    await takeTurns(round, async (variant) => {
      await servers.set(latency);
      const { wallMs, cpuMs, peakMb } = await workers[variant].invoke(newBatch(BATCH));
      const sample = samples[variant];
      sample.wall.push(wallMs);
      sample.cpu.push(cpuMs / BATCH);
      sample.peakMb = peakMb;
      sample.connections += (await servers.counts()).connections;
    });
  }
  return samples;
}

async function messagesPerSecond(worker: Worker): Promise<Record<number, number>> {
  const seen = newBatch(BATCH);
  await worker.invoke(seen);
  const rates: Record<number, number> = {};
  for (const duplicates of DUPLICATES) {
    let wall = 0;
    for (let i = 0; i < WARM_ROUNDS / 4; i++) {
      const { wallMs } = await worker.invoke(mixedBatch(seen, duplicates, BATCH));
      wall += wallMs;
    }
    rates[duplicates] = ((WARM_ROUNDS / 4) * BATCH * 1_000) / wall;
  }
  return rates;
}
