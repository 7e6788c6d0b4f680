// The live page: one HTML file, and the feed as server-sent events. On this machine alone.
import { createHash, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { transform } from "esbuild";

import type { Alarms } from "../alarms/alarms.ts";
import type { Control } from "../control/control.ts";
import type { Order } from "../control/order.ts";
import { ControlError, SWITCHES } from "../control/switches.ts";
import type { Feed } from "../feed.ts";
import type { StackEvent } from "../stack-event.ts";

export type Page = {
  /** With the token that its buttons need. */
  url: string;
  stop: () => Promise<void>;
};

const HEARTBEAT_MS = 15_000;

/**
 * Its control is at `/control`, for whoever has the token: GET lists the switches and what is on, POST
 * starts one (`?name=`, `argument`, `times`, `seconds`) or ends it (`?end=`, empty for every one).
 * `/alarms` has their states.
 * Takes the next free port when the one that is asked for is taken.
 *
 * @throws when none of the next ten is free
 */
export async function startPage(
  feed: Feed<StackEvent>,
  {
    port = 4_700,
    control,
    alarms,
  }: { port?: number; control?: Control; alarms?: Alarms["states"] } = {},
): Promise<Page> {
  const token = randomBytes(16).toString("base64url");
  const html = await readFile(new URL("page.html", import.meta.url), "utf8");
  const view = await readFile(new URL("view.ts", import.meta.url), "utf8");
  const { code: script } = await transform(view, { loader: "ts", target: "es2022" });
  const [, style = ""] = /<style>([\s\S]*?)<\/style>/.exec(html) ?? [];
  const [, inline = ""] = /<script type="module">([\s\S]*?)<\/script>/.exec(html) ?? [];
  const policy = `default-src 'none'; style-src ${hash(style)}; script-src 'self' ${hash(inline)}; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
    // Another site's script may resolve its own name to this machine; its Host gives it away.
    if (!isLocal(request.headers.host))
      return send(response, 421, "text/plain", "Not this host.\n");
    if (pathname === "/control" && control) {
      if (searchParams.get("token") !== token)
        return send(response, 403, "text/plain", "No token.\n");
      const { status, answer } = operate(control, request.method, searchParams);
      return send(response, status, "application/json", JSON.stringify(answer));
    }
    if (pathname === "/alarms" && alarms) {
      void alarms().then((states) =>
        send(response, 200, "application/json", JSON.stringify(states)),
      );
      return;
    }
    if (pathname === "/") return send(response, 200, "text/html; charset=utf-8", html);
    if (pathname === "/view.js") return send(response, 200, "text/javascript", script);
    if (pathname === "/events") return stream(request, response);
    return send(response, 404, "text/plain", "There is nothing here.\n");
  }

  function send(response: ServerResponse, status: number, type: string, body: string): void {
    response
      .writeHead(status, {
        "content-type": type,
        "content-security-policy": policy,
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cache-control": "no-store",
      })
      .end(body);
  }

  /** Every entry after the last one that the page saw, then each new one. */
  function stream(request: IncomingMessage, response: ServerResponse): void {
    response.writeHead(200, {
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      "content-security-policy": policy,
    });
    response.write("retry: 500\n\n");
    const after = Number(request.headers["last-event-id"] ?? 0);
    const unsubscribe = feed.subscribe(
      (entry) => {
        if (entry.type === "log") return; // may hold anything that a function writes
        response.write(`id: ${entry.sequence}\ndata: ${JSON.stringify(entry)}\n\n`);
      },
      Number.isSafeInteger(after) ? after : 0,
    );
    const timer = setInterval(() => response.write(": still here\n\n"), HEARTBEAT_MS);
    response.on("close", () => {
      clearInterval(timer);
      unsubscribe();
    });
  }

  const server = createServer(answer);
  for (let next = port; ; next++) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once("error", reject).listen(next, "127.0.0.1", resolve);
    try {
      await promise;
      break;
    } catch (error) {
      const taken = (error as NodeJS.ErrnoException).code === "EADDRINUSE";
      if (!taken || next >= port + 10) throw error;
    } finally {
      server.removeAllListeners("error");
    }
  }
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${bound}/#${token}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function operate(control: Control, method: string | undefined, params: URLSearchParams) {
  const numberOf = (name: string) => (params.has(name) ? Number(params.get(name)) : undefined);
  try {
    if (method !== "POST") {
      const switches = Object.entries(SWITCHES).map(([name, { argument, does, ends }]) => ({
        name,
        argument,
        does,
        ends,
      }));
      return { status: 200, answer: { switches, on: control.on() } };
    }
    const ended = params.get("end");
    if (ended !== null) return { status: 200, answer: { ended: control.end(ended || undefined) } };
    const seconds = numberOf("seconds");
    const order: Order = {
      name: params.get("name") ?? "",
      argument: params.get("argument") ?? "",
      times: numberOf("times"),
      forMs: seconds === undefined ? undefined : seconds * 1_000,
    };
    return { status: 200, answer: { done: control.start(order) } };
  } catch (error) {
    if (!(error instanceof ControlError)) throw error;
    return { status: 400, answer: { problem: error.message } };
  }
}

function isLocal(host = ""): boolean {
  return /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/.test(host);
}

/** What a content security policy names an inline script or style by. */
function hash(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
