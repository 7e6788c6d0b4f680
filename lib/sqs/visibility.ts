// When a delivery that was not acknowledged comes back.

import { ChangeMessageVisibilityBatchCommand } from "@aws-sdk/client-sqs";
import type { SQSClient } from "@aws-sdk/client-sqs";

import { withTimeLimit } from "../net/time-limit.ts";
import { backoffCeilingMs, LONGEST_WAIT_MS } from "../timing/backoff.ts";
import type { Backoff } from "../timing/backoff.ts";
import type { Delivery, Disposition } from "./delivery.ts";

export type Retry = { delivery: Delivery; delaySeconds: number };

/**
 * Seconds until a delivery may be received again; undefined when it is to be acknowledged. `now` is
 * in epoch ms, `random` from 0 to 1.
 */
export function retryDelaySeconds(
  disposition: Disposition,
  receiveCount: number,
  backoff: Backoff,
  now: number,
  random: number,
): number | undefined {
  switch (disposition.kind) {
    case "acknowledge":
      return undefined;
    case "dead-letter":
      return 0;
    case "at":
      return Math.max(1, Math.ceil(Math.min(disposition.time - now, LONGEST_WAIT_MS) / 1_000));
    case "backoff": {
      // Spread over the upper half: all of it could be so short that an outage uses up the receives.
      const ceiling = backoffCeilingMs(backoff, receiveCount);
      return Math.max(1, Math.ceil((ceiling / 2 + (ceiling / 2) * random) / 1_000));
    }
  }
}

/**
 * Gives each delivery its own visibility timeout, all within `timeoutMs`. `onFailure` hears of one
 * that could not be set, with SQS's code: it comes back with the queue's own, which is safe.
 */
export async function setVisibilityTimeouts(
  retries: readonly Retry[],
  queue: { client: SQSClient; url: string },
  timeoutMs: number,
  onFailure: (code: string | undefined) => void,
): Promise<void> {
  // A batch of the event source may be larger than one of the API, which takes 10.
  const chunks = Array.from({ length: Math.ceil(retries.length / 10) }, (_, i) =>
    retries.slice(10 * i, 10 * i + 10),
  );
  await Promise.all(
    chunks.map(async (chunk) => {
      const command = new ChangeMessageVisibilityBatchCommand({
        QueueUrl: queue.url,
        Entries: chunk.map(({ delivery, delaySeconds }, index) => ({
          Id: String(index),
          ReceiptHandle: delivery.receiptHandle,
          VisibilityTimeout: delaySeconds,
        })),
      });
      try {
        const { Failed = [] } = await withTimeLimit(timeoutMs, (options) =>
          queue.client.send(command, options),
        );
        for (const { Code } of Failed) onFailure(Code);
      } catch (error) {
        onFailure(error instanceof Error ? error.name : undefined);
      }
    }),
  );
}
