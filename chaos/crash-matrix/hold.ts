// Holds a request at the server that got it, and loses it when its sender is dead.
import type { Stack } from "../../local/stack.ts";
import type { Request } from "./points.ts";

export type Hold = {
  request: Request;
  /** Before it is applied, or after that and before the reply. */
  side: "before" | "after";
  /** Only from the moment when this is true. */
  when: () => boolean;
  /** The request waits for it. */
  run: () => Promise<void>;
  /** The request dies with its sender: it is never applied. */
  lost: boolean;
};

// The event source outlives the worker, and sends a lost delete two times more.
const DELETES = 3;

/** Holds the next such request of the message. */
export function holdNext(stack: Stack, messageId: string, hold: Hold): void {
  const { request, side, when, lost } = hold;
  let held: object | undefined;
  let dead = false;
  const isHeld = (seen: object): boolean => seen === held;
  const run = async (seen: object): Promise<void> => {
    held = seen;
    await hold.run();
    dead = true;
  };
  const hook = { kind: "hook", at: side === "before" ? "received" : "applied", run } as const;

  switch (request.to) {
    case "table": {
      const { faults } = stack.table;
      const { operation } = request;
      const sets = operation === "UpdateItem" ? request.sets : "";
      const where = ({ update = "" }: { update?: string }): boolean =>
        when() && update.includes(sets);
      faults.add({ operation, messageId, where }, hook);
      if (lost) faults.add({ where: isHeld }, { kind: "dropBefore" });
      break;
    }
    case "stripe": {
      const { faults } = stack.stripe;
      // A lookup does not say whose it is; in a row's stack there is nobody else.
      const whose = request.method === "POST" ? { messageId } : {};
      // At "received" a Stripe carries the request out, whatever becomes of its sender.
      const at = side === "before" ? "arriving" : "applied";
      faults.add({ method: request.method, ...whose, where: when }, { ...hook, at });
      if (lost) faults.add({ where: isHeld }, { kind: "dropBefore" });
      break;
    }
    case "queue": {
      const { faults } = stack.queue;
      const { operation } = request;
      const where = (seen: { bodies: string[] }): boolean =>
        when() && seen.bodies.some((body) => body.includes(`"${messageId}"`));
      faults.add({ operation, where }, hook);
      if (!lost) break;
      const isDelete = operation === "DeleteMessageBatch";
      const isLost = (seen: object): boolean => isHeld(seen) || (isDelete && dead);
      faults.add(
        { operation, where: isLost, times: isDelete ? DELETES : 1 },
        { kind: "dropBefore" },
      );
    }
  }
}
