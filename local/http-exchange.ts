// One request at a local server between its arrival and its reply, with the faults in between.

import type { IncomingHttpHeaders, ServerResponse } from "node:http";

import type { createFaults, Phase } from "./faults.ts";

export type HttpRequest = {
  method: string;
  /** Path and query, as sent. */
  url: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
};

export type Reply = {
  status: number;
  headers: Record<string, string>;
  body: string;
};

/** One request between its arrival and its reply, as the service sees it. */
export type Exchange<Seen, Own> = {
  /** What is matched by the faults, and shown to their hooks. */
  seen: Seen;
  /** Called with each fault when it happens. */
  onFault?: (kind: string) => void;
  /** Whether a fault of the service's own can happen to this request. */
  takes?: (fault: Own) => boolean;
  /** The reply of one that ends the exchange; without a reply the fault goes to `apply`. */
  refuse?: (fault: Own) => Reply | undefined;
  /** Accepts the request, once it has arrived. */
  receive?: () => void;
  /** Carries it out. */
  apply: (injected: readonly Own[]) => Reply | Promise<Reply>;
  /** Called when the reply goes out. */
  onReply?: (reply: Reply) => void;
};

type Around<Seen extends object, Own extends { kind: string }> = {
  due: ReturnType<typeof createFaults<Seen, Own>>["due"];
  /** Waits real ms; rejects when the server is stopping. */
  wait: (ms: number) => Promise<void>;
  /** Rejects when the server is stopping. */
  stopped: Promise<never>;
};

/** Resolves with the reply and with the time that its body takes; without a reply, the connection is cut. */
export async function runExchange<Seen extends object, Own extends { kind: string }>(
  exchange: Exchange<Seen, Own>,
  { due, wait, stopped }: Around<Seen, Own>,
): Promise<{ reply: Reply | undefined; slowMs: number }> {
  const { seen, onFault, refuse, takes = () => true, receive, apply } = exchange;
  const injected: Own[] = [];
  let slowMs = 0;
  let refused: Reply | undefined;

  /** Plays the faults of this phase; false when one of them has ended the exchange. */
  async function survives(phase: Phase): Promise<boolean> {
    for (const { kind, common, own } of due(phase, seen, takes)) {
      onFault?.(kind);
      if (own) {
        refused = refuse?.(own);
        if (refused) return false;
        injected.push(own);
      } else if (common?.kind === "hook") await Promise.race([common.run(seen), stopped]);
      else if (common?.kind === "slowBody") slowMs = common.ms;
      else if (common && "ms" in common) await wait(common.ms);
      else return false;
    }
    return true;
  }

  if (!(await survives("arriving"))) return { reply: refused, slowMs };
  receive?.();
  if (!(await survives("received"))) return { reply: refused, slowMs };
  const reply = await apply(injected);
  if (!(await survives("applied"))) return { reply: refused, slowMs };
  return { reply, slowMs };
}

/** Longer than a client's pause between two bytes may be. */
const PIECE_MS = 50;

function headersOf(reply: Reply): Record<string, string | number> {
  return { ...reply.headers, "content-length": Buffer.byteLength(reply.body) };
}

export function send(response: ServerResponse, reply: Reply): void {
  response.writeHead(reply.status, headersOf(reply)).end(reply.body);
}

/** The headers at once, and the body in small pieces over this time. */
export async function trickle(
  response: ServerResponse,
  reply: Reply,
  ms: number,
  wait: (ms: number) => Promise<void>,
): Promise<void> {
  const body = Buffer.from(reply.body);
  response.writeHead(reply.status, headersOf(reply)).flushHeaders();
  const pieces = Math.max(2, Math.ceil(ms / PIECE_MS));
  const edge = (piece: number) => Math.floor((piece * body.length) / pieces);
  for (let piece = 0; piece < pieces; piece += 1) {
    await wait(ms / pieces);
    response.write(body.subarray(edge(piece), edge(piece + 1)));
  }
  response.end();
}
