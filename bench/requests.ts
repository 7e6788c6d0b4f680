// What a delivery asks for. The same is asserted in test/functions/payment-worker.test.ts.

import { newBatch } from "./events.ts";
import { exactly } from "./report.ts";
import type { Section } from "./report.ts";
import type { Counts } from "./servers.ts";
import { AT_ONCE, BATCH, environment, DEPLOYED_MB } from "./settings.ts";
import type { Bench } from "./settings.ts";
import { VARIANTS } from "./variants.ts";
import type { Variant } from "./variants.ts";
import { startWorker } from "./worker.ts";

type Counted = Partial<Record<Variant, string>>;

export async function countRequests({ servers, bundles }: Bench): Promise<Section> {
  await servers.setLatency(AT_ONCE);
  const first: Counted = {};
  const duplicate: Counted = {};
  const connections: Counted = {};
  for (const variant of VARIANTS) {
    const env = environment(servers.addresses, DEPLOYED_MB);
    const worker = await startWorker(bundles.variants[variant].path, env);
    await worker.invoke(newBatch(BATCH));
    const message = newBatch(1);
    first[variant] = requests(await servers.during(() => worker.invoke(message)));
    duplicate[variant] = requests(await servers.during(() => worker.invoke(message)));
    const { opened } = await servers.during(() => worker.invoke(newBatch(BATCH)));
    connections[variant] = String(opened);
    await worker.kill();
  }
  const rows = [
    { figure: "requests of a first delivery, table + Stripe", target: "2 + 1", seen: first },
    { figure: "requests of a duplicate", target: "1 + 0", seen: duplicate },
    { figure: "connections that a warm batch of ten opens", target: "0", seen: connections },
  ];
  return {
    comparisons: rows.map(({ figure, target, seen }) => exactly(figure, target, seen.worker)),
    figures: rows,
  };
}

const requests = ({ table, stripe }: Counts) => `${table} + ${stripe}`;
