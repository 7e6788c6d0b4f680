// The simulation's Stripe over HTTP, so that the worker's real client can talk to it.

import { startHttpServer } from "../../../local/http-server.ts";
import type { Request, Response } from "../../../simulation/models/stripe.ts";

export const serve = (stripe: (request: Request) => Response) =>
  startHttpServer({
    read: ({ method, url: path, headers, body }) => ({
      seen: {},
      apply() {
        const idempotencyKey = headers["idempotency-key"]?.toString();
        const answer = stripe({ method, path, body: body.toString(), idempotencyKey });
        return { ...answer, headers: { "content-type": "application/json" } };
      },
    }),
  });
