// The simulation's Stripe over HTTP, so that the worker's real client can talk to it.

import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

import type { Request, Response } from "../../../simulation/models/stripe.ts";
import type { ExternalServer } from "./process.ts";

export async function serve(stripe: (request: Request) => Response): Promise<ExternalServer> {
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = "", url = "", headers } = request;
    const idempotencyKey = headers["idempotency-key"]?.toString();
    const body = await text(request);
    const answer = stripe({ method, path: url, body, idempotencyKey });
    response.writeHead(answer.status, { "content-type": "application/json" }).end(answer.body);
  };
  const server = createServer((request, response) => void respond(request, response));
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
