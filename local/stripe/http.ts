import type { IncomingMessage, ServerResponse } from "node:http";

import type { Answer } from "./errors.ts";

/** The whole body as text, or undefined when the client hung up before it had sent it. */
export async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks).toString();
}

export type ReplyHeaders = {
  requestId: string;
  idempotencyKey: string | undefined;
  stripeVersion: string | undefined;
  /** Set when the answer is a stored one: the request that it was first given to. */
  replayOf?: string | undefined;
};

/** Sends the answer with Stripe's headers. With `slow.ms`, the headers go at once and the body trickles after them. */
export async function reply(
  response: ServerResponse,
  answer: Answer,
  { requestId, idempotencyKey, stripeVersion, replayOf }: ReplyHeaders,
  slow?: { ms: number; wait: (ms: number) => Promise<void> },
): Promise<void> {
  const body = Buffer.from(JSON.stringify(answer.body));
  response.writeHead(answer.status, {
    "Content-Type": "application/json",
    "Content-Length": body.length,
    "Request-Id": requestId,
    ...(idempotencyKey !== undefined && {
      "Idempotency-Key": idempotencyKey,
      "Original-Request": replayOf ?? requestId,
    }),
    ...(replayOf !== undefined && { "Idempotent-Replayed": "true" }),
    ...(stripeVersion !== undefined && { "Stripe-Version": stripeVersion }),
    ...(answer.shouldRetry !== undefined && { "Stripe-Should-Retry": String(answer.shouldRetry) }),
  });
  if (!slow || slow.ms === 0) {
    response.end(body);
    return;
  }
  response.flushHeaders();
  const pieces = Math.max(2, Math.ceil(slow.ms / 50));
  for (let piece = 0; piece < pieces; piece += 1) {
    await slow.wait(slow.ms / pieces);
    const edge = (count: number) => Math.floor((count * body.length) / pieces);
    response.write(body.subarray(edge(piece), edge(piece + 1)));
  }
  response.end();
}
