// How many requests a delivery costs, by kind.

import { setTimeout as sleep } from "node:timers/promises";

import { newBatch } from "./events.ts";
import { each, NONE } from "./rounds.ts";
import type { Bench, PerVariant } from "./rounds.ts";
import { startWorker } from "./worker.ts";
import type { Worker } from "./worker.ts";

export type Requests = Record<"first" | "duplicate" | "takeover", Record<string, number>>;

const SHORT_TIMEOUTS = {
  STRIPE_TIMEOUT_SECONDS: "0.5",
  CALL_TIMEOUT_SECONDS: "0.2",
  DEADLINE_RESERVE_SECONDS: "0.1",
  CLOCK_SKEW_SECONDS: "0.1",
};
const SHORT_INVOCATION_MS = 1_500;

/** Requests by kind for one delivery. A takeover follows a worker that was killed in its charge. */
export async function countRequests({
  servers,
  bundles,
  env,
}: Bench): Promise<PerVariant<Requests>> {
  return each(async (variant) => {
    const start = () =>
      startWorker(bundles[variant].path, { ...env, ...SHORT_TIMEOUTS }, SHORT_INVOCATION_MS);
    const count = async (worker: Worker, message: ReturnType<typeof newBatch>) => {
      await servers.set(NONE);
      await worker.invoke(message);
      return (await servers.counts()).requests;
    };
    const worker = await start();
    const message = newBatch(1);
    const first = await count(worker, message);
    const duplicate = await count(worker, message);
    await worker.kill();

    const victim = await start();
    const interrupted = newBatch(1);
    await servers.set(NONE, { silent: true });
    const dying = victim.invoke(interrupted).catch(() => undefined);
    while (!(await servers.counts()).requests["Stripe POST"]) await sleep(5);
    await victim.kill();
    await dying;
    await sleep(SHORT_INVOCATION_MS + 500); // until the claim has expired
    const next = await start();
    const takeover = await count(next, interrupted);
    await next.kill();
    return { first, duplicate, takeover };
  });
}
