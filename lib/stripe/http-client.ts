// stripe-node's HTTP, with a total deadline. Its Node client's timeout counts only the socket's
// idle time, so a trickling body never ends; its fetch client has a total one, but loads undici.

import { Agent as HttpAgent, request as httpRequest } from "node:http";
import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";

import type { Stripe } from "stripe";

import { isObject } from "../message/json.ts";

type HttpClient = NonNullable<NonNullable<ConstructorParameters<typeof Stripe>[1]>["httpClient"]>;

/**
 * An HTTP client for stripe-node whose `timeout` (ms) bounds connecting, replying and the whole
 * body together.
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
        const sent = request({ host, port, path, method, headers, agent });
        const reply = await exchange(sent, body, endsAt - performance.now());
        if (reply !== "stale socket") return response(reply);
        agent = false; // a fresh connection
      }
    },
  };
}

type Reply = { message: IncomingMessage; body: string };

/**
 * Sends the request and reads the whole reply. A stale socket was open before, and the server
 * closed it meanwhile, such as in a freeze of Lambda: sending again is safe, by the idempotency key.
 *
 * @throws Error without a code, or stripe-node retries a closed connection outside our deadline;
 *   with ETIMEDOUT after `timeoutMs`
 */
function exchange(
  sent: ClientRequest,
  body: string,
  timeoutMs: number,
): Promise<Reply | "stale socket"> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply | "stale socket">();
  const timer = setTimeout(() => {
    reject(Object.assign(new Error("ETIMEDOUT"), { code: "ETIMEDOUT" }));
    sent.destroy();
  }, timeoutMs);
  const fail = (cause: Error) => reject(new Error(cause.message, { cause }));

  let kept = false;
  sent.once("socket", (socket) => {
    kept = !socket.connecting;
  });
  sent.on("error", (error: NodeJS.ErrnoException) => {
    const closed = error.code === "ECONNRESET" || error.code === "EPIPE";
    if (closed && kept) resolve("stale socket");
    else fail(error);
  });
  sent.once("response", (message) => {
    let text = "";
    message.setEncoding("utf8");
    message.on("data", (chunk: string) => (text += chunk));
    message.on("error", fail);
    message.once("end", () => resolve({ message, body: text }));
  });
  sent.end(body);
  return promise.finally(() => clearTimeout(timer));
}

function response({ message, body }: Reply): Awaited<ReturnType<HttpClient["makeRequest"]>> {
  return {
    getStatusCode: () => message.statusCode ?? 0,
    getHeaders: () => message.headers as Record<string, string>,
    getRawResponse: () => message,
    toStream: () => {
      throw new Error("Bug! The worker streams nothing from Stripe.");
    },
    toJSON: async () => parse(body, message.statusCode ?? 0),
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
