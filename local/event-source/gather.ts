// Collects one batch from the queue, as far as size and window allow.
import { setTimeout as sleep } from "node:timers/promises";

import type { Message } from "@aws-sdk/client-sqs";

import type { QueueClient } from "./queue-client.ts";

// Real long polls wait up to 20 s. One second loses nothing here, and a server that does not notice
// a poller's end holds its last poll, and what it would receive, no longer than that.
const WAIT_SECONDS = 1;
// Within the window: short polls, since a long poll cut off at its end could swallow a message.
const WINDOW_POLL_MS = 50;

/**
 * Waits for a message, then takes more until the batch is full or the window is over. Returns no
 * message when none came. Rejects when aborted or failed before the first message; later on it
 * returns what it has, since those messages are received and hidden already.
 */
export async function gatherBatch(
  queue: QueueClient,
  batchSize: number,
  windowSeconds: number,
  signal: AbortSignal,
): Promise<Message[]> {
  const batch = await queue.receive(Math.min(10, batchSize), WAIT_SECONDS, signal);
  if (batch.length === 0) return batch;
  const closesAt = performance.now() + windowSeconds * 1000;
  while (batch.length < batchSize && performance.now() < closesAt) {
    try {
      const more = await queue.receive(Math.min(10, batchSize - batch.length), 0, signal);
      batch.push(...more);
      if (more.length === 0) await sleep(WINDOW_POLL_MS, undefined, { signal });
    } catch {
      break;
    }
  }
  return batch;
}
