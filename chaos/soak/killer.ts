// Kills functions during a soak at a request of theirs, and kills or freezes workers at any moment.
import { ADVANCE, atNextRequest } from "../harness/at-request.ts";
import type { Request } from "../harness/at-request.ts";
import type { Harness } from "../harness/harness.ts";
import { freeze, kill, thaw } from "../harness/process.ts";
import { pause } from "../harness/wait.ts";
import type { Chance } from "./chance.ts";

// How long a planned kill may wait for its request, ms.
const HIT_MS = 60_000;

type Target = readonly [functionName: string, Request];

const WORKER = "payment-worker";
const CREATE: Target = [WORKER, { to: "stripe", method: "POST" }];
/** Every other kill is one of the worker. */
const TARGETS: readonly [Target, ...Target[]] = [
  [WORKER, { to: "table", operation: "PutItem" }],
  [WORKER, { to: "table", operation: "UpdateItem" }],
  [WORKER, { to: "table", operation: "UpdateItem", sets: "outcome = " }],
  CREATE,
  CREATE,
  ["outcome-publisher", { to: "bus", operation: "PutEvents" }],
  ["payment-finalizer", { to: "stripe", method: "GET" }],
  ["payment-finalizer", ADVANCE],
  ["order-fulfillment", { to: "table", operation: "TransactWriteItems" }],
  ["stripe-webhook", { to: "queue", operation: "SendMessage", queue: "stripe-events" }],
];

/** Kills until `signal` aborts. `ended` resolves when that is over and nothing is frozen. */
export function startKiller(
  { stack, deliveries, functionNamed }: Harness,
  chance: Chance,
  signal: AbortSignal,
): { freezes: () => number; ended: Promise<void> } {
  const frozen = new Set<Promise<void>>();
  let freezes = 0;

  async function freezeFor(pid: number, ms: number): Promise<void> {
    freeze(pid);
    freezes += 1;
    await pause(ms, signal);
    thaw(pid);
  }

  /** Kills the function that sends the next such request, and sometimes loses the request with it. */
  async function killAtRequest(): Promise<void> {
    const [name, request] = chance.pick(TARGETS);
    const side = chance.happens(0.67) ? "before" : "after";
    const lost = side === "before" && chance.happens(0.5);
    const hit = new AbortController();
    atNextRequest(stack, { request, side }, { lost }, (messageId) => {
      // A batch is one process's: the one that has this message has sent the request.
      functionNamed(name).kill(messageId);
      hit.abort();
    });
    await pause(HIT_MS, AbortSignal.any([signal, hit.signal]));
  }

  async function run(): Promise<void> {
    while (await pause(chance.between(200, 1_200), signal)) {
      // Kills without end would keep the poller slow.
      if (deliveries.isSlow()) continue;
      const [pid] = deliveries.busy();
      if (pid === undefined || chance.happens(0.75)) {
        await killAtRequest();
      } else if (chance.happens(0.6)) {
        await kill(pid);
      } else {
        const thawed = freezeFor(pid, chance.between(500, 6_000));
        frozen.add(thawed);
        void thawed.finally(() => frozen.delete(thawed));
      }
    }
    await Promise.all(frozen);
  }

  return { freezes: () => freezes, ended: run() };
}
