// stripe-node's HTTP, with a total deadline. Its Node client's timeout counts only the socket's
// idle time, so a trickling body never ends; its fetch client has a total one, but loads undici.

import { Agent as HttpAgent, request as httpRequest } from "node:http";
import type { RequestOptions } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";

import type { Stripe } from "stripe";

import { isObject } from "../message/json.ts";
import { exchange } from "../net/exchange.ts";
import type { Reply } from "../net/exchange.ts";

type HttpClient = NonNullable<NonNullable<ConstructorParameters<typeof Stripe>[1]>["httpClient"]>;

/**
 * An HTTP client for stripe-node whose `timeout` (ms) bounds connecting, replying and the whole
 * body together.
 *
 * A stale socket was open before, and the server closed it meanwhile, such as in a freeze of Lambda:
 * the request is sent again on a fresh one, which is safe by its idempotency key.
 */
export function stripeHttpClient(httpsAgent = new HttpsAgent({ keepAlive: true })): HttpClient {
  const httpAgent = new HttpAgent({ keepAlive: true });
  return {
    getClientName: () => "node",
    async makeRequest(host, port, path, method, headers, body, protocol, timeout) {
      const endsAt = performance.now() + timeout;
      const request = protocol === "http" ? httpRequest : httpsRequest;
      let agent: RequestOptions["agent"] = protocol === "http" ? httpAgent : httpsAgent;
      for (;;) {
        let kept = false;
        const open = () =>
          request({ host, port, path, method, headers, agent })
            .once("socket", ({ connecting }) => (kept = !connecting))
            .once("response", () => (kept = false));
        try {
          return response(await exchange(open, body, endsAt - performance.now()));
        } catch (error) {
          if (!(kept && CLOSED.has((error as NodeJS.ErrnoException).code))) throw failure(error);
          agent = false; // a fresh connection, which is not kept
        }
      }
    },
  };
}

const CLOSED: ReadonlySet<unknown> = new Set(["ECONNRESET", "EPIPE"]);

/** Without the code by which stripe-node would retry a closed connection outside our deadline. */
function failure(cause: unknown): unknown {
  if (!(cause instanceof Error) || cause.name === "TimeoutError") return cause;
  return new Error(cause.message, { cause });
}

function response({ message, body }: Reply): Awaited<ReturnType<HttpClient["makeRequest"]>> {
  return {
    getStatusCode: () => message.statusCode ?? 0,
    getHeaders: () => message.headers as Record<string, string>,
    getRawResponse: () => message,
    toStream: () => {
      throw new Error("Bug! The worker streams nothing from Stripe.");
    },
    toJSON: async () => parse(body.toString(), message.statusCode ?? 0),
  };
}

/**
 * What Stripe says. A proxy in its place may say anything: a bare string or number ends the process
 * inside stripe-node, and an error without `error` passes for a PaymentIntent.
 *
 * @throws Error, which stripe-node makes a StripeAPIError: the result is unknown
 */
function parse(body: string, status: number): object {
  const json: unknown = JSON.parse(body);
  if (!isObject(json)) throw new Error("The reply is not a JSON object.");
  const { error } = json;
  if (error === undefined ? status >= 400 : !isObject(error)) {
    throw new Error("The reply is not one of Stripe's errors.");
  }
  return json;
}
