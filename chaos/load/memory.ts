// Memory over a load: whether a worker holds more after many payments than after few.
import { handle } from "../../local/feed.ts";
import type { StackEvent } from "../../local/stack-event.ts";
import type { Stack } from "../../local/stack.ts";
import { percentiles } from "./meter.ts";

/** Of one process, bytes. `heap` is the least that was seen: what stays when garbage is gone. */
type Held = { heap: number; rss: number };

export type Grown = {
  /** How many there were in all. */
  payments: number;
  /** In the second fifth of the payments, once everything has run; and in the last one. */
  early: Held;
  late: Held;
  /** Heap per payment in between. */
  bytesPerPayment: number;
};

export type Memory = {
  /** The process of a worker that grew most. */
  worker: Grown | undefined;
  /** This one, with the servers and what they keep. */
  servers: Grown | undefined;
};

type Sample = { payments: number } & Held;

/** @param payments how many have an outcome, all in all */
export function watchMemory(
  { feed, worker }: Stack,
  slots: number,
  payments: () => number,
): () => Memory {
  const workers = new Map<number, Sample[]>();
  const servers: Sample[] = [];
  const pids = new Map<string, number>();

  feed.subscribe(
    handle<StackEvent>({
      invoked({ requestId, pid, ...event }) {
        if (event.function === worker.name) pids.set(requestId, pid);
      },
      responded({ requestId, memory }) {
        const pid = pids.get(requestId);
        pids.delete(requestId);
        if (pid === undefined || !memory) return;
        const samples = workers.get(pid) ?? [];
        workers.set(pid, samples);
        samples.push({ payments: payments(), heap: memory.heapBytes, rss: memory.rssBytes });
        const { heapUsed: heap, rss } = process.memoryUsage();
        servers.push({ payments: payments(), heap, rss });
      },
      failed: ({ requestId }) => void pids.delete(requestId),
    }),
  );

  return () => {
    // Each worker charges its share.
    const grown = [...workers.values()].flatMap((samples) => grownBy(samples, slots) ?? []);
    return {
      worker: grown.toSorted((a, b) => b.bytesPerPayment - a.bytesPerPayment)[0],
      servers: grownBy(servers, 1),
    };
  };
}

function grownBy(samples: readonly Sample[], processes: number): Grown | undefined {
  const all = samples.at(-1)?.payments ?? 0;
  const between = (from: number, to: number) =>
    samples.filter(({ payments }) => payments > from * all && payments <= to * all);
  const [early, late] = [held(between(0.2, 0.4)), held(between(0.8, 1))];
  if (!early || !late) return undefined;
  const bytesPerPayment = ((late.heap - early.heap) * processes) / (0.6 * all);
  return { payments: all, early, late, bytesPerPayment };
}

function held(samples: readonly Sample[]): Held | undefined {
  if (samples.length === 0) return undefined;
  return {
    heap: Math.min(...samples.map(({ heap }) => heap)),
    rss: percentiles(samples.map(({ rss }) => rss)).p50,
  };
}
