/**
 * The HTTP front of a local AWS service: reads a request, logs it, plays the faults, and lets the
 * service answer.
 */
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import { errorCode, errorReply, headersOf, readCall, sendReply } from "./aws-json.ts";
import type { Call, Reply } from "./aws-json.ts";
import { createFaults } from "./faults.ts";
import type { Faults } from "./faults.ts";

/** One request as the server saw it. */
export type Seen<Details> = Details & {
  operation: string;
  /** When it arrived, ms since the epoch. */
  atMs: number;
  /** `ok`, the AWS error code that was answered, `dropped` when it was not applied, `pending` until then. */
  result: string;
};

export type AwsJsonServer<Details> = {
  url: string;
  port: number;
  faults: Faults<Seen<Details>>;
  /** Every request so far, oldest first. */
  requests: () => readonly Seen<Details>[];
  /** How many requests there were of each operation. */
  counts: () => Record<string, number>;
  /** How many connections were opened. */
  connections: () => number;
  /** Cuts every connection, and resolves when nothing is being applied any more.
   * @throws what a hook threw, so that a test cannot miss it */
  stop: () => Promise<void>;
};

/**
 * Listens on 127.0.0.1.
 * @param options.describe what the log and the faults need to know of a request, from its input
 * @param options.answer applies a request; may add to `seen`
 * @throws when the port is taken
 */
export async function startAwsJsonServer<Details extends object>(options: {
  port: number;
  now: () => number;
  describe: (operation: string, input: Record<string, unknown>) => Details;
  answer: (call: Call, seen: Seen<Details>) => Promise<Reply>;
}): Promise<AwsJsonServer<Details>> {
  const faults = createFaults<Seen<Details>>();
  const log: Seen<Details>[] = [];
  const stopping = new AbortController();
  const stopped = new Promise<never>((_resolve, reject) => {
    stopping.signal.addEventListener("abort", () => reject(new Error("The server is stopping.")));
  });
  stopped.catch(() => {});
  const inFlight = new Set<Promise<void>>();
  const failures: unknown[] = [];
  let connections = 0;

  const wait = (ms: number) => sleep(ms, undefined, { signal: stopping.signal });

  async function exchange(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const call = await readCall(request);
    if (call === undefined) {
      sendReply(
        response,
        errorReply(400, "SerializationException", "The body is not a JSON object."),
      );
      return;
    }
    const { operation, input } = call;
    const details = options.describe(operation, input);
    const seen: Seen<Details> = { ...details, operation, atMs: options.now(), result: "pending" };
    log.push(seen);

    for (const fault of faults.take("before", seen)) {
      if (fault.kind === "hook") await Promise.race([fault.run(seen), stopped]);
      else if (fault.kind === "delayBefore") await wait(fault.ms);
      else if (fault.kind === "refuse") {
        seen.result = fault.code;
        sendReply(response, errorReply(fault.status, fault.code, fault.message));
        return;
      } else {
        seen.result = "dropped";
        request.socket.destroy();
        return;
      }
    }

    const reply = await options.answer(call, seen);
    seen.result = reply.status === 200 ? "ok" : errorCode(reply);

    for (const fault of faults.take("after", seen)) {
      if (fault.kind === "hook") await Promise.race([fault.run(seen), stopped]);
      else if (fault.kind === "delayAfter") await wait(fault.ms);
      else if (fault.kind === "slowBody") {
        const last = reply.body.length - 1;
        response.writeHead(reply.status, headersOf(reply));
        response.write(reply.body.slice(0, last));
        await wait(fault.ms);
        response.end(reply.body.slice(last));
        return;
      } else {
        request.socket.destroy();
        return;
      }
    }
    sendReply(response, reply);
  }

  const server = createServer((request, response) => {
    // Whatever goes wrong here, a client that is still there sees a cut connection and not a hang.
    const done = exchange(request, response).catch((error: unknown) => {
      if (!stopping.signal.aborted && request.complete) failures.push(error);
      request.socket.destroy();
    });
    inFlight.add(done);
    void done.finally(() => inFlight.delete(done));
  });
  // Longer than a client's pool keeps an idle connection, so that only the faults cut connections.
  server.keepAliveTimeout = 60_000;
  server.on("connection", () => {
    connections += 1;
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    port,
    faults: faults.armed,
    requests: () => log,
    counts() {
      const counts: Record<string, number> = {};
      for (const { operation } of log) counts[operation] = (counts[operation] ?? 0) + 1;
      return counts;
    },
    connections: () => connections,
    async stop() {
      stopping.abort();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await Promise.all([closed, ...inFlight]);
      if (failures.length > 0) throw failures[0];
    },
  };
}
