// Connections that are open before the first request. A TLS handshake takes CPU, of which Lambda
// gives init a whole one and a handler only its memory's share.

import { once } from "node:events";
import { Agent } from "node:https";
import { isIP } from "node:net";
import type { Socket } from "node:net";

// A connection that waited longer was frozen with the process: the other side may have closed it.
const FRESH_MS = 10_000;

export type Connections = {
  /** Keeps connections alive, and takes those that `open` has made first. */
  agent: Agent;
  /**
   * Opens `count` connections to the host of an address, where TLS makes that worth it.
   *
   * @throws Error when one of them is not open after `timeoutMs`
   */
  open: (address: URL, count: number, timeoutMs: number) => Promise<void>;
};

export function httpsConnections(now: () => number): Connections {
  const waiting: { origin: string; socket: Socket; since: number }[] = [];
  const agent = new Agent({ keepAlive: true });
  const connect = agent.createConnection.bind(agent);

  // https://nodejs.org/api/http.html#agentcreateconnectionoptions-callback
  agent.createConnection = (options, callback) =>
    take(`${options.host}:${options.port}`) ?? connect(options, callback);

  function take(origin: string): Socket | undefined {
    const index = waiting.findIndex((connection) => connection.origin === origin);
    const [connection] = index === -1 ? [] : waiting.splice(index, 1);
    if (!connection) return undefined;
    const { socket, since } = connection;
    if (socket.readyState === "open" && now() - since < FRESH_MS) return socket.ref();
    socket.destroy();
    return take(origin);
  }

  async function openOne(host: string, port: number, timeoutMs: number): Promise<void> {
    const options = { ...agent.options, host, port, servername: isIP(host) ? "" : host };
    const socket = connect(options) as Socket;
    socket.on("error", () => {}); // one that fails while it waits is not taken
    try {
      await once(socket, "secureConnect", { signal: AbortSignal.timeout(timeoutMs) });
    } catch (cause) {
      socket.destroy();
      throw new Error(`no connection to ${host}:${port}`, { cause });
    }
    waiting.push({ origin: `${host}:${port}`, socket: socket.unref(), since: now() });
  }

  return {
    agent,
    async open({ protocol, hostname, port }, count, timeoutMs) {
      if (protocol !== "https:") return;
      const openings = Array.from({ length: count }, () =>
        openOne(hostname, Number(port || 443), timeoutMs),
      );
      await Promise.all(openings);
    },
  };
}
