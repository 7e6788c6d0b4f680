// A stack of its own for each row, and what producers and the queue do in it.
import { ChangeMessageVisibilityCommand, MessageNotInflight } from "@aws-sdk/client-sqs";

import { openHarness, payment } from "../harness/harness.ts";
import type { Sent } from "../harness/verdict.ts";
import { until } from "../harness/wait.ts";
import { CRASH_MATRIX } from "../timings.ts";

export type RowHarness = Awaited<ReturnType<typeof openRowHarness>>;

const WARM_UP_MS = 15_000;
// Every wait of a row, one after the other: visibility timeout, lease, visibility timeout.
const DRAINED_MS = 90_000;

/** `keyWindowMs`: how long the worker trusts Stripe to know its key. */
export async function openRowHarness(keyWindowMs = CRASH_MATRIX.keyWindowMs) {
  const harness = await openHarness({ ...CRASH_MATRIX, keyWindowMs });
  const { stack, sqs, deliveries } = harness;
  const messages = new Map<string, Sent>();
  let warmUps = 0;

  // Made when it is first sent: an older one would be looked up in its first delivery.
  const messageOf = (id: string): Sent => {
    const message = messages.get(id) ?? payment(id);
    messages.set(id, message);
    return message;
  };
  const send = (id: string): Promise<void> => harness.send(messageOf(id));

  return {
    ...harness,
    /** Sends a payment's message, always the same one for an id. */
    send,
    /** Delivers the message once more, as SQS may at any time, even after a delete. */
    deliverAgain: async (
      id: string,
      { receiptHandle }: { receiptHandle: string },
    ): Promise<void> => {
      const QueueUrl = stack.queues.queueUrl;
      const { body } = messageOf(id);
      const there = await stack.queue.messages(QueueUrl);
      if (!there.some((message) => message.body === body)) return send(id);
      const change = { QueueUrl, ReceiptHandle: receiptHandle, VisibilityTimeout: 0 };
      await sqs.send(new ChangeMessageVisibilityCommand(change)).catch((error: unknown) => {
        // It is visible already.
        if (!(error instanceof MessageNotInflight)) throw error;
      });
    },
    /** Leaves two processes that have each handled a message; false when they never ran at once. */
    warmUp: async (): Promise<boolean> => {
      const giveUpAfter = warmUps + 10;
      while (warmUps < giveUpAfter) {
        const ids = [`warm-up-${(warmUps += 1)}`, `warm-up-${(warmUps += 1)}`];
        await Promise.all(ids.map(send));
        const handled = () => ids.flatMap((id) => deliveries.of(id).filter(({ over }) => over));
        await until(WARM_UP_MS, () => handled().length === ids.length);
        if (new Set(handled().map(({ pid }) => pid)).size === ids.length) return true;
      }
      return false;
    },
    /** Waits until no message is left; one that stays is seen in the verdict. */
    drained: () => stack.drained(DRAINED_MS).catch(() => {}),
  };
}
