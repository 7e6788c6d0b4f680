// The HTTP front of every local server: reads a request, plays the faults, lets the service answer, and
// replies. On 127.0.0.1 alone by default.

import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

import { createFaults } from "./faults.ts";
import type { Faults, Phase } from "./faults.ts";
import { runExchange, send, trickle } from "./http-exchange.ts";
import type { Exchange, HttpRequest, Reply } from "./http-exchange.ts";

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
  /** The identity of a server that speaks TLS, as AWS and Stripe do. */
  tls?: { cert: Buffer; key: Buffer } | undefined;
};

type Options<Seen, Own> = Listening & {
  /** What a browser at `/` reads. */
  about?: string | undefined;
  /** When a fault that only this service has happens. */
  phaseOfOwn?: (fault: Own) => Phase;
  /** What to do with a request, or what to reply to one that cannot be read. */
  read: (request: HttpRequest) => Exchange<Seen, Own> | Reply;
  /** Called with each request when it is over, a dropped one too. */
  onEnd?: (seen: Seen) => void;
};

/** Longer than any client keeps an idle connection, so that only the faults cut one. */
const KEEP_ALIVE_MS = 600_000;

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
    try {
      const { reply, slowMs } = await runExchange(exchange, { due, wait, stopped });
      if (reply) exchange.onReply?.(reply);
      if (!reply) request.socket.destroy();
      else if (slowMs === 0) send(response, reply);
      else await trickle(response, reply, slowMs, wait);
    } finally {
      options.onEnd?.(exchange.seen);
    }
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
    const server = options.tls ? createTlsServer(options.tls, listener) : createServer(listener);
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
    url: `${options.tls ? "https" : "http"}://127.0.0.1:${port}`,
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
