// Takes the place of lib/stripe/http-client.ts in the simulation: stripe-node runs as it is, on a
// connection that the scheduler answers.

import type { Request, Response } from "../models/stripe.ts";

type Send = (request: Request, timeoutMs: number) => Promise<Response>;

let sendOfNextClient: Send | undefined;

/** What the next client that is made will send with. */
export function connectNextClient(send: Send): void {
  sendOfNextClient = send;
}

/** The same interface as the real one. */
export function stripeHttpClient() {
  const send = sendOfNextClient;
  if (!send) throw new Error("Bug! A Stripe client without a connection.");
  return {
    getClientName: () => "node",
    async makeRequest(
      _host: string,
      _port: string,
      path: string,
      method: string,
      headers: Record<string, string>,
      body: string,
      _protocol: string,
      timeoutMs: number,
    ) {
      const idempotencyKey = headers["Idempotency-Key"];
      const { status, body: json } = await send({ method, path, body, idempotencyKey }, timeoutMs);
      return {
        getStatusCode: () => status,
        getHeaders: () => ({ "request-id": "req_simulated" }),
        getRawResponse: () => ({}),
        toStream: () => {
          throw new Error("Bug! The worker streams nothing from Stripe.");
        },
        toJSON: async () => JSON.parse(json) as unknown,
      };
    },
  };
}
