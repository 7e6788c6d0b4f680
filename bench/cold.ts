// Cold starts over TLS, as with AWS and Stripe: until a worker is ready, and until its first batch is
// done.

import { newBatch } from "./events.ts";
import { BATCH, COLD_ROUNDS, each, MEMORIES_MB, REAL, takeTurns } from "./rounds.ts";
import type { Bench, PerVariant } from "./rounds.ts";
import { summarise } from "./statistics.ts";
import type { Summary } from "./statistics.ts";
import { startWorker } from "./worker.ts";

export type Cold = {
  readyMs: Summary;
  /** From the start of the process to the end of the first batch, on a whole CPU. */
  firstBatchMs: Summary;
  /** The same with Lambda's share of a CPU from `ready` on; by memory in MB. */
  throttledMs: Record<number, Summary>;
  connections: number;
};

/** Cold starts; without `throttledMs` where the CPU cannot be throttled. */
export async function measureCold(bench: Bench): Promise<PerVariant<Cold>> {
  const { servers, bundles, tlsEnv, throttle } = bench;
  const samples = await each(() => ({
    ready: [] as number[],
    first: [] as number[],
    throttled: Object.fromEntries(MEMORIES_MB.map((mb) => [mb, [] as number[]])),
    connections: 0,
  }));
  for (let round = 0; round < COLD_ROUNDS; round++) {
    await takeTurns(round, async (variant) => {
      await servers.set(REAL);
      const worker = await startWorker(bundles[variant].path, tlsEnv);
      const { wallMs } = await worker.invoke(newBatch(BATCH));
      samples[variant].ready.push(worker.readyMs);
      samples[variant].first.push(worker.readyMs + wallMs);
      samples[variant].connections = (await servers.counts()).connections;
      await worker.kill();
    });
    for (const mb of throttle ? MEMORIES_MB : []) {
      await takeTurns(round, async (variant) => {
        const worker = await startWorker(bundles[variant].path, tlsEnv);
        throttle?.apply(worker.pid, mb);
        const { wallMs } = await worker.invoke(newBatch(BATCH));
        samples[variant].throttled[mb]?.push(worker.readyMs + wallMs);
        await worker.kill();
      });
    }
  }
  return each((variant) => {
    const { ready, first, throttled, connections } = samples[variant];
    const measured = Object.entries(throttled).filter(([, values]) => values.length > 0);
    return {
      readyMs: summarise(ready, COLD_ROUNDS),
      firstBatchMs: summarise(first, COLD_ROUNDS),
      throttledMs: Object.fromEntries(
        measured.map(([mb, values]) => [mb, summarise(values, COLD_ROUNDS)]),
      ),
      connections,
    };
  });
}
