// Acts at a request of a function, at the server that gets it: there a process can be killed before the
// request is applied or after it, and the request lost with its sender.
import type { Faults } from "../../local/faults.ts";
import type { Stack } from "../../local/stack.ts";

/** A request of the protocol, as the server that gets it sees it. */
export type Request =
  /** `sets` is what only this update sets. */
  | {
      to: "table";
      operation: "PutItem" | "UpdateItem" | "GetItem" | "TransactWriteItems";
      sets?: string;
    }
  | { to: "stripe"; method: "POST" | "GET" }
  | {
      to: "queue";
      operation: "ChangeMessageVisibilityBatch" | "DeleteMessageBatch" | "SendMessage";
      /** The worker's when absent. */
      queue?: string;
    }
  | { to: "bus"; operation: "PutEvents" };

/** The finalizer's. */
export const ADVANCE: Request = {
  to: "table",
  operation: "UpdateItem",
  sets: "revision = if_not_exists",
};

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

/** What the servers know of a request, each its part. */
type Seen = {
  operation?: string;
  method?: string;
  update?: string;
  queue?: string;
  messageId?: string;
  bodies?: readonly string[];
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
  const faults = stack[request.to].faults as unknown as Faults<Seen>;
  let held: Seen | undefined;
  let isOver = false;
  faults.add(
    { where: (seen) => when() && isFor(seen, request, messageId) },
    {
      kind: "hook",
      // Not at "received": then it is carried out, whatever becomes of its sender.
      at: side === "before" ? "arriving" : "applied",
      async run(seen) {
        held = seen;
        await run(seen.messageId);
        isOver = true;
      },
    },
  );
  if (!lost) return;
  const isDelete = request.to === "queue" && request.operation === "DeleteMessageBatch";
  const isRepeat = (seen: Seen): boolean => isDelete && isOver && isFor(seen, request, undefined);
  const where = (seen: Seen): boolean => seen === held || isRepeat(seen);
  faults.add({ where, times: isDelete ? DELETES : 1 }, { kind: "dropBefore" });
}

function isFor(seen: Seen, request: Request, messageId: string | undefined): boolean {
  if (request.to === "stripe") {
    // A lookup does not say whose it is.
    const isOf = seen.method === "GET" || seen.messageId === messageId;
    return seen.method === request.method && (messageId === undefined || isOf);
  }
  if (seen.operation !== request.operation) return false;
  if (request.to === "bus") return true;
  if (request.to === "table" && !(seen.update ?? "").includes(request.sets ?? "")) return false;
  if (request.to === "queue" && seen.queue !== (request.queue ?? "payments")) return false;
  const isIn = (body: string) => body.includes(`"${messageId}"`);
  return (
    messageId === undefined || (seen.bodies ? seen.bodies.some(isIn) : seen.messageId === messageId)
  );
}
