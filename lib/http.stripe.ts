// stripe-node's HTTP, with a total deadline. Its Node client's timeout counts only the socket's
// idle time, so a trickling body never ends; its fetch client has a total one, but loads undici.

import { Agent as HttpAgent, request as httpRequest } from "node:http";
import type { IncomingMessage, RequestOptions } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";

import type { Stripe } from "stripe";

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
      const secure = protocol !== "http";
      const options: RequestOptions = { host, port, path, method };
      Object.assign(options, { headers, agent: secure ? httpsAgent : httpAgent });
      const signal = AbortSignal.timeout(timeout);
      try {
        return response(await exchange(secure ? httpsRequest : httpRequest, options, body, signal));
      } catch (error) {
        if (signal.aborted) throw Object.assign(new Error("ETIMEDOUT"), { code: "ETIMEDOUT" });
        // Without its code: stripe-node retries a closed connection outside our deadline.
        throw new Error(error instanceof Error ? error.message : "connection failed", {
          cause: error,
        });
      }
    },
  };
}

type Exchange = { message: IncomingMessage; body: string };

async function exchange(
  request: typeof httpRequest,
  options: RequestOptions,
  body: string,
  signal: AbortSignal,
): Promise<Exchange> {
  let stale = false;
  try {
    return await new Promise<Exchange>((resolve, reject) => {
      const sent = request({ ...options, signal });
      sent.once("response", (message) => {
        readBody(message).then(resolve, reject);
      });
      sent.once("error", (error: NodeJS.ErrnoException) => {
        stale = sent.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");
        reject(error);
      });
      sent.end(body);
    });
  } catch (error) {
    if (!stale || signal.aborted) throw error;
    // The server closed a kept-alive socket while Lambda was frozen. The key makes this safe.
    return exchange(request, { ...options, agent: false }, body, signal);
  }
}

async function readBody(message: IncomingMessage): Promise<Exchange> {
  message.setEncoding("utf8");
  let body = "";
  for await (const chunk of message) body += chunk;
  return { message, body };
}

function response({ message, body }: Exchange): Awaited<ReturnType<HttpClient["makeRequest"]>> {
  return {
    getStatusCode: () => message.statusCode ?? 0,
    getHeaders: () => message.headers as Record<string, string>,
    getRawResponse: () => message,
    toStream: () => {
      throw new Error("Bug! The worker streams nothing from Stripe.");
    },
    toJSON: async () => JSON.parse(body),
  };
}
