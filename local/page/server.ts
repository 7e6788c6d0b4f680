// The live page: one HTML file, what it follows, and its buttons. On this machine alone.
import { createHash, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import type { Control } from "../control/control.ts";
import type { Order } from "../control/order.ts";
import { ControlError, SWITCHES } from "../control/switches.ts";
import type { Feed } from "../feed.ts";
import type { StackEvent } from "../stack-event.ts";
import type { Sources } from "./gauges.ts";
import { createStream } from "./stream.ts";

type PageOptions = Sources & {
  /** 4700 when absent. */
  port?: number;
  /** Whether the commands find this stack: the page names those that do the same. */
  commands?: boolean;
  /** What its buttons do, and `npm run break`. */
  control?: Control;
  /** What can be said of one message beside its timeline. */
  explain?: (messageId: string) => Promise<object>;
};

export type Page = Awaited<ReturnType<typeof startPage>>;

/**
 * Its control is at `/control`, for whoever has the token: GET lists the switches and what is on, POST
 * starts one (`?name=`, `argument`, `times`, `seconds`) or ends it (`?end=`, empty for every one).
 * `/alarms` has their states.
 * Takes the next free port when the one that is asked for is taken.
 *
 * @throws when none of the next ten is free
 */
export async function startPage(feed: Feed<StackEvent>, options: PageOptions) {
  const { port = 4_700, control, explain = async () => ({}) } = options;
  const token = randomBytes(16).toString("base64url");
  const html = await readFile(new URL("page.html", import.meta.url), "utf8");
  const policy = policyOf(html);
  const stream = createStream(feed, options, () => ({
    on: control?.on() ?? [],
    commands: options.commands,
  }));

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
    const send = (status: number, type: string, body: string) =>
      head(response, status, type).end(body);
    const text = (status: number, body: string) => send(status, "text/plain; charset=utf-8", body);
    // Another site's script may resolve its own name to this machine; its Host gives it away.
    if (!isLocal(request.headers.host)) return void text(421, "Not this host.");
    if (pathname === "/control" && control) {
      if (request.headers["x-token"] !== token) {
        const advice = "open the address that was printed last";
        return void text(403, `No token, or one of an earlier run: ${advice}.`);
      }
      const { status, answer } = await operate(control, request.method, searchParams);
      return void send(status, "application/json", JSON.stringify(answer));
    }
    if (request.method !== "GET") return void text(405, "Not this method.");
    if (pathname === "/") return void send(200, "text/html; charset=utf-8", html);
    if (pathname === "/events") return stream.follow(head(response, 200, "text/event-stream"));
    if (pathname === "/alarms" && options.alarms) {
      return void send(200, "application/json", JSON.stringify(await options.alarms()));
    }
    const row = stream.view.rows.get(searchParams.get("id") ?? "");
    if (pathname !== "/message" || !row) return void text(404, "There is nothing here.");
    const { id, steps } = row;
    send(200, "application/json", JSON.stringify({ id, steps, ...(await explain(id)) }));
  }

  function head(response: ServerResponse, status: number, type: string): ServerResponse {
    return response.writeHead(status, {
      "content-type": type,
      "content-security-policy": policy,
      "x-content-type-options": "nosniff",
      "cross-origin-resource-policy": "same-origin",
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
    });
  }

  const server = createServer((request, response) => {
    // A server of the stack that is gone fails an explanation: the page asks again.
    answer(request, response).catch(() => response.destroy());
  });
  const bound = await listen(server, port);
  return {
    /** With the token that its buttons need. */
    url: `http://127.0.0.1:${bound}/#${token}`,
    /** Cuts the connection of every page that follows, as a bad network does. */
    cut: () => server.closeAllConnections(),
    stop: async (): Promise<void> => {
      stream.stop();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function operate(control: Control, method: string | undefined, params: URLSearchParams) {
  const numberOf = (name: string) => (params.has(name) ? Number(params.get(name)) : undefined);
  const argument = params.get("argument") ?? undefined;
  try {
    if (method !== "POST") {
      const switches = Object.entries(SWITCHES).map(([name, one]) => {
        const { argument, does, ends } = one;
        return { name, argument, does, ends };
      });
      return { status: 200, answer: { switches, on: control.on() } };
    }
    const name = params.get("end");
    if (name !== null)
      return { status: 200, answer: { ended: control.end(name || undefined, argument) } };
    const seconds = numberOf("seconds");
    const order: Order = {
      name: params.get("name") ?? "",
      argument: argument ?? "",
      times: numberOf("times"),
      forMs: seconds === undefined ? undefined : seconds * 1_000,
    };
    return { status: 200, answer: { done: await control.start(order) } };
  } catch (error) {
    if (!(error instanceof ControlError)) throw error;
    return { status: 400, answer: { problem: error.message } };
  }
}

async function listen(server: Server, port: number): Promise<number> {
  for (let next = port; ; next++) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once("error", reject).listen(next, "127.0.0.1", resolve);
    try {
      await promise;
      return (server.address() as AddressInfo).port;
    } catch (error) {
      const taken = (error as NodeJS.ErrnoException).code === "EADDRINUSE";
      if (!taken || next >= port + 10) throw error;
    } finally {
      server.removeAllListeners("error");
    }
  }
}

function isLocal(host = ""): boolean {
  return /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/.test(host);
}

/** The page may run and look like what its file says, and talk to its own server; nothing else. */
function policyOf(html: string): string {
  const [, style = ""] = /<style>([\s\S]*?)<\/style>/.exec(html) ?? [];
  const [, script = ""] = /<script type="module">([\s\S]*?)<\/script>/.exec(html) ?? [];
  return [
    "default-src 'none'",
    `style-src ${hash(style)}`,
    `script-src ${hash(script)}`,
    "connect-src 'self'",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
}

/** What a content security policy names an inline script or style by. */
function hash(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
