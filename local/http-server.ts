// The HTTP front of every local server: reads a request, plays the faults, lets the service answer, and
// replies. On 127.0.0.1 alone unless it is told otherwise.

import { createServer } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

import { createFaults } from "./faults.ts";
import type { Faults, Phase } from "./faults.ts";

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
  /** Told of each fault when it happens. */
  onFault?: (kind: string) => void;
  /** Whether a fault of the service's own can happen to this request. */
  takes?: (fault: Own) => boolean;
  /** The reply of one that ends the exchange; without a reply the fault goes to `apply`. */
  refuse?: (fault: Own) => Reply | undefined;
  /** Accepts the request, once it has arrived. */
  receive?: () => void;
  /** Carries it out. */
  apply: (injected: readonly Own[]) => Reply | Promise<Reply>;
  /** Told when the reply goes out. */
  onReply?: (reply: Reply) => void;
};

export type HttpServer<Seen, Own> = {
  url: string;
  port: number;
  faults: Faults<Seen, Own>;
  /** How many connections were opened. */
  connections: () => number;
  /** Cuts every connection, and resolves when nothing is being applied any more; safe to call twice.
   * @throws what a hook threw, so that a test cannot miss it */
  stop: () => Promise<void>;
};

export type Listening = {
  /** 0 or absent for any free one. */
  port?: number | undefined;
  /** Another address to listen on, at the same port: a bridge that containers reach this machine by. */
  host?: string | undefined;
};

type Options<Seen, Own> = Listening & {
  /** What a browser at `/` reads. */
  about?: string | undefined;
  /** When a fault that only this service has happens. */
  phaseOfOwn?: (fault: Own) => Phase;
  /** What to do with a request, or what to reply to one that cannot be read. */
  read: (request: HttpRequest) => Exchange<Seen, Own> | Reply;
  /** Told of each request when it is over, a dropped one too. */
  onEnd?: (seen: Seen) => void;
};

/** Longer than any client keeps an idle connection, so that only the faults cut one. */
const KEEP_ALIVE_MS = 600_000;
const PIECE_MS = 50;

/** @throws when the port is taken */
export async function startHttpServer<Seen extends object, Own extends { kind: string } = never>(
  options: Options<Seen, Own>,
): Promise<HttpServer<Seen, Own>> {
  const { armed, due } = createFaults<Seen, Own>(options.phaseOfOwn ?? (() => "arriving"));
  const stopping = new AbortController();
  const stopped = new Promise<never>((_resolve, reject) => {
    stopping.signal.addEventListener("abort", () => reject(new Error("The server is stopping.")));
  });
  stopped.catch(() => {});
  const inFlight = new Set<Promise<void>>();
  const failures: unknown[] = [];
  let connections = 0;
  const wait = (ms: number) => sleep(ms, undefined, { signal: stopping.signal });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "GET", url = "/", headers } = request;
    if (options.about && url === "/" && headers.accept?.includes("text/html")) {
      return send(response, plain(options.about));
    }
    const exchange = options.read({ method, url, headers, body: await buffer(request) });
    if ("status" in exchange) return send(response, exchange);
    await run(exchange, request, response).finally(() => options.onEnd?.(exchange.seen));
  }

  async function run(
    exchange: Exchange<Seen, Own>,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { seen, onFault, refuse, takes = () => true, receive, apply, onReply } = exchange;
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

    let reply: Reply | undefined;
    if ((await survives("arriving")) && (receive?.(), await survives("received"))) {
      reply = await apply(injected);
      if (!(await survives("applied"))) reply = undefined;
    }
    reply ??= refused;
    if (!reply) {
      request.socket.destroy();
      return;
    }
    onReply?.(reply);
    if (slowMs === 0) send(response, reply);
    else await trickle(response, reply, slowMs, wait);
  }

  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    // Whatever goes wrong here, a client that is still there sees a cut connection and not a hang.
    const done = serve(request, response).catch((error: unknown) => {
      if (!stopping.signal.aborted && request.complete) failures.push(error);
      request.socket.destroy();
    });
    inFlight.add(done);
    void done.finally(() => inFlight.delete(done));
  };

  const servers: Server[] = [];
  async function listen(port: number, host: string): Promise<number> {
    const server = createServer(listener);
    server.keepAliveTimeout = KEEP_ALIVE_MS;
    server.on("connection", () => (connections += 1));
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, host, resolve);
    });
    servers.push(server);
    return (server.address() as AddressInfo).port;
  }
  async function close(): Promise<void> {
    const closed = servers.map((server) => new Promise((resolve) => server.close(resolve)));
    for (const server of servers) server.closeAllConnections();
    await Promise.all([...closed, ...inFlight]);
  }

  const port = await listen(options.port ?? 0, "127.0.0.1");
  if (options.host !== undefined) {
    await listen(port, options.host).catch(async (error: unknown) => {
      await close();
      throw error;
    });
  }

  return {
    url: `http://127.0.0.1:${port}`,
    port,
    faults: armed,
    connections: () => connections,
    async stop() {
      stopping.abort();
      await close();
      const [failure] = failures.splice(0);
      if (failure !== undefined) throw failure;
    },
  };
}

function plain(body: string): Reply {
  return { status: 200, headers: { "content-type": "text/plain; charset=utf-8" }, body };
}

function headersOf(reply: Reply): Record<string, string | number> {
  return { ...reply.headers, "content-length": Buffer.byteLength(reply.body) };
}

function send(response: ServerResponse, reply: Reply): void {
  response.writeHead(reply.status, headersOf(reply)).end(reply.body);
}

/** The headers at once, and the body in small pieces over this time. */
async function trickle(
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
