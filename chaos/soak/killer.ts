// Kills and freezes workers during a soak: at a request of theirs, or at any moment.
import type { EventSourceEvent } from "../../local/event-source/events.ts";
import type { Stack } from "../../local/stack.ts";
import { freeze, kill, thaw } from "../crash-matrix/process.ts";
import type { Chance } from "./chance.ts";
import { pause } from "./pause.ts";

// How long a planned kill may wait for its request, ms.
const HIT_MS = 60_000;

export type Killer = {
  onEvent: (event: EventSourceEvent) => void;
  /** Kills until `signal` aborts; resolves when that is over and nothing is frozen. */
  run: (stack: Stack, chance: Chance, signal: AbortSignal) => Promise<void>;
  /** Invocations that ended with the SIGKILL of their process. */
  kills: () => number;
  freezes: () => number;
};

export function createKiller(): Killer {
  // Processes that have an event, by the invocation's request id.
  const busy = new Map<string, number>();
  let kills = 0;
  let freezes = 0;
  // After a failed invocation the event source slows down until one succeeds: kills without end
  // would keep it there.
  let isSlow = false;

  async function freezeOne(pid: number, ms: number, signal: AbortSignal): Promise<void> {
    freeze(pid);
    freezes += 1;
    await pause(ms, signal);
    thaw(pid);
  }

  return {
    onEvent(event) {
      if (event.type === "invoked") busy.set(event.requestId, event.pid);
      if (event.type !== "responded" && event.type !== "failed") return;
      busy.delete(event.requestId);
      isSlow = event.type === "failed";
      if (event.type === "failed" && event.reason === "crash" && event.message.includes("SIGKILL"))
        kills += 1;
    },
    async run(stack, chance, signal) {
      const frozen = new Set<Promise<void>>();
      while (await pause(chance.between(200, 1_200), signal)) {
        if (isSlow) continue;
        const [pid] = busy.values();
        if (pid === undefined || chance.happens(0.75)) {
          await killAtRequest(stack, chance, signal);
        } else if (chance.happens(0.6)) {
          await kill(pid);
        } else {
          const thawed = freezeOne(pid, chance.between(500, 6_000), signal);
          frozen.add(thawed);
          void thawed.finally(() => frozen.delete(thawed));
        }
      }
      await Promise.all(frozen);
    },
    kills: () => kills,
    freezes: () => freezes,
  };
}

/** Kills the worker that sends the next such request, and sometimes loses the request with it. */
async function killAtRequest(stack: Stack, chance: Chance, signal: AbortSignal): Promise<void> {
  const { table, stripe, eventSource } = stack;
  const to = chance.pick(["PutItem", "UpdateItem", "Stripe"]);
  const side = chance.pick(["before", "after", "before, and lost"]);
  const hit = new AbortController();
  let held: object | undefined;
  const isHeld = (seen: object): boolean => seen === held;
  const run = (seen: { messageId?: string | undefined }): void => {
    held = seen;
    // A batch is one process's: whoever has this message has sent the request.
    eventSource.kill(seen.messageId);
    hit.abort();
  };

  if (to === "Stripe") {
    const at = side === "after" ? "applied" : side === "before" ? "received" : "arriving";
    stripe.faults.add({ method: "POST" }, { kind: "hook", at, run });
    if (at === "arriving") stripe.faults.add({ where: isHeld }, { kind: "dropBefore" });
  } else {
    const at = side === "after" ? "applied" : "received";
    table.faults.add({ operation: to }, { kind: "hook", at, run });
    if (side === "before, and lost") {
      table.faults.add({ where: isHeld }, { kind: "dropBefore" });
    }
  }
  await pause(HIT_MS, AbortSignal.any([signal, hit.signal]));
}
