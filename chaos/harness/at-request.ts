// Acts at a request of a function, at the server that gets it: there a process can be killed before the
// request is applied or after it, and the request lost with its sender.
import type { Stack } from "../../local/stack.ts";

/** A request of the protocol, as the server that gets it sees it. */
export type Request =
  /** `sets` is what only this update sets. */
  | { to: "table"; operation: "PutItem" | "UpdateItem"; sets?: string }
  | { to: "stripe"; method: "POST" | "GET" }
  | { to: "queue"; operation: "ChangeMessageVisibilityBatch" | "DeleteMessageBatch" };

export type Moment = {
  request: Request;
  /** Before it is applied, or after that and before the reply. */
  side: "before" | "after";
};

type Options = {
  /** Only a request for this message. */
  messageId?: string;
  /** Only from the moment when this is true. */
  when?: () => boolean;
  /** The request dies with its sender: it is never applied. */
  lost?: boolean;
};

// The event source outlives the function, and sends a lost delete two times more.
const DELETES = 3;

/** Runs `run` at the next such request, which waits for it. It gets the request's message id. */
export function atNextRequest(
  stack: Stack,
  { request, side }: Moment,
  { messageId, when = () => true, lost = false }: Options,
  run: (messageId: string | undefined) => void | Promise<void>,
): void {
  let held: object | undefined;
  let isOver = false;
  const isHeld = (seen: object): boolean => seen === held;
  // Not at "received": then it is carried out, whatever becomes of its sender.
  const hook = {
    kind: "hook",
    at: side === "before" ? "arriving" : "applied",
    async run(seen: object & { messageId?: string | undefined }) {
      held = seen;
      await run(seen.messageId);
      isOver = true;
    },
  } as const;
  const whose = messageId === undefined ? {} : { messageId };

  switch (request.to) {
    case "table": {
      const { faults } = stack.table;
      const { operation, sets = "" } = request;
      const where = ({ update = "" }: { update?: string }): boolean =>
        when() && update.includes(sets);
      faults.add({ operation, ...whose, where }, hook);
      if (lost) faults.add({ where: isHeld }, { kind: "dropBefore" });
      break;
    }
    case "stripe": {
      const { faults } = stack.stripe;
      const { method } = request;
      // A lookup does not say whose it is.
      const match = { method, ...(method === "POST" && whose), where: when };
      faults.add(match, hook);
      if (lost) faults.add({ where: isHeld }, { kind: "dropBefore" });
      break;
    }
    case "queue": {
      const { faults } = stack.queue;
      const { operation } = request;
      const where = (seen: { bodies: string[] }): boolean =>
        when() && seen.bodies.some((body) => !messageId || body.includes(`"${messageId}"`));
      faults.add({ operation, where }, hook);
      if (!lost) break;
      const isDelete = operation === "DeleteMessageBatch";
      const isLost = (seen: object): boolean => isHeld(seen) || (isDelete && isOver);
      const times = isDelete ? DELETES : 1;
      faults.add({ operation, where: isLost, times }, { kind: "dropBefore" });
    }
  }
}
