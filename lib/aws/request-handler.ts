// How the AWS clients send requests: over kept connections, with one timer for each. The SDK's own
// handler has four, and hands its reply on as a stream.
// https://github.com/smithy-lang/smithy-typescript/blob/main/packages/types/src/transfer.ts (RequestHandler)

import { Agent as HttpAgent, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";

import type { HttpHandlerOptions, HttpRequest, HttpResponse, RequestHandler } from "@smithy/types";

import { exchange } from "../net/exchange.ts";
import type { Reply } from "../net/exchange.ts";

type HttpHandler = RequestHandler<HttpRequest, HttpResponse, HttpHandlerOptions> & {
  updateHttpClientConfig(): void;
  httpHandlerConfigs(): object;
};

// A connection that breaks is a TimeoutError, as it is of the SDK's handler: it is tried again.
const BROKEN: ReadonlySet<unknown> = new Set(["ECONNRESET", "EPIPE", "ETIMEDOUT"]);

/** A handler whose every try ends within `timeoutMs`: connecting, replying and the body together. */
export function createRequestHandler(
  timeoutMs: number,
  httpsAgent = new HttpsAgent({ keepAlive: true }),
): HttpHandler {
  const httpAgent = new HttpAgent({ keepAlive: true });
  return {
    metadata: { handlerProtocol: "http/1.1" },
    async handle({ protocol, hostname, port, path, method, headers, body }, options) {
      const secure = protocol === "https:";
      const request = secure ? httpsRequest : httpRequest;
      const agent = secure ? httpsAgent : httpAgent;
      const host = hostname.replace(/^\[(.*)\]$/, "$1");
      const open = () => request({ host, port, path, method, headers, agent });
      const signal = options?.abortSignal as AbortSignal | undefined;
      try {
        const reply = await exchange(open, body, options?.requestTimeout ?? timeoutMs, signal);
        const { statusCode = 0, statusMessage: reason = "" } = reply.message;
        const response = { statusCode, reason, headers: headersOf(reply), body: reply.body };
        return { response };
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        throw BROKEN.has(code) ? Object.assign(error as Error, { name: "TimeoutError" }) : error;
      }
    },
    destroy() {
      httpAgent.destroy();
      httpsAgent.destroy();
    },
    updateHttpClientConfig() {}, // nothing can be set later
    httpHandlerConfigs: () => ({}),
  };
}

function headersOf({ message }: Reply): Record<string, string> {
  const entries = Object.entries(message.headers);
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
}
