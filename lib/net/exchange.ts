// One HTTP exchange: a request and its whole reply, read by events and bounded by one timer.

import type { ClientRequest, IncomingMessage } from "node:http";

export type Reply = { message: IncomingMessage; body: Buffer };

/**
 * Sends a request and reads the whole reply. `timeoutMs` bounds connecting, replying and the body
 * together.
 *
 * @throws the socket's own error; a TimeoutError with the code ETIMEDOUT; an AbortError
 */
export async function exchange(
  open: () => ClientRequest,
  body: string | Uint8Array | undefined,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<Reply> {
  if (signal?.aborted) throw aborted(signal);
  const sent = open();
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const end = (error: Error) => {
    reject(error);
    sent.destroy();
  };
  const abort = () => end(aborted(signal));
  const timer = setTimeout(() => {
    const error = new Error(`no whole reply within ${timeoutMs} ms`);
    end(Object.assign(error, { name: "TimeoutError", code: "ETIMEDOUT" }));
  }, timeoutMs);
  signal?.addEventListener("abort", abort);

  sent.on("error", reject);
  sent.once("response", (message) => {
    const chunks: Buffer[] = [];
    message.on("data", (chunk: Buffer) => chunks.push(chunk));
    message.on("error", reject);
    message.once("end", () => resolve({ message, body: Buffer.concat(chunks) }));
  });
  sent.end(body);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

function aborted(signal: AbortSignal | undefined): Error {
  const error = new Error("Request aborted", { cause: signal?.reason });
  return Object.assign(error, { name: "AbortError" });
}
