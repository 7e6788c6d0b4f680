// What goes wrong with messages and their queue. The worker has no switch for any of this, and each
// fault counts how often it really happened.
import { ChangeMessageVisibilityCommand } from "@aws-sdk/client-sqs";

import { payment } from "../harness/harness.ts";
import type { Harness, PlannedFault } from "../harness/harness.ts";
import { until } from "../harness/wait.ts";

/** The SQS messages under which a message id was delivered. */
export function sqsIds({ deliveries }: Harness, id: string): Set<string> {
  return new Set(deliveries.of(id).map(({ sqsId }) => sqsId));
}

/**
 * The queue delivers one message to two workers at once, as SQS may. The first worker waits for Stripe
 * meanwhile, for less than its own timeout, so on a busy machine the second can come too late: then
 * another message has its turn.
 */
export async function deliverTwiceAtOnce(harness: Harness): Promise<PlannedFault> {
  const { deliveries } = harness;
  let id = "delivered-twice";
  for (let turn = 1; turn <= 5 && !deliveries.overlapped(id); turn++) {
    id = turn === 1 ? id : `delivered-twice-${turn}`;
    await deliverAgainDuringCharge(harness, id);
  }
  return {
    id,
    what: "delivered to two workers at the same time",
    happened: () => Number(deliveries.overlapped(id)),
  };
}

async function deliverAgainDuringCharge(
  { stack, send, sqs, deliveries }: Harness,
  id: string,
): Promise<void> {
  const makeVisible = async (): Promise<void> => {
    await sqs.send(
      new ChangeMessageVisibilityCommand({
        QueueUrl: stack.queues.queueUrl,
        ReceiptHandle: deliveries.of(id).at(-1)?.receiptHandle,
        VisibilityTimeout: 0,
      }),
    );
    await until(200, () => deliveries.overlapped(id));
  };
  stack.stripe.faults.add({ messageId: id }, { kind: "hook", at: "received", run: makeVisible });
  await send(payment(id));
  await until(15_000, () => deliveries.of(id).some(({ deleted }) => deleted));
}

/** The producer's own retry: the same operation in a new SQS message. */
export async function producerRetries(harness: Harness): Promise<PlannedFault> {
  const id = "producer-retried";
  const message = payment(id);
  await harness.send(message);
  await harness.send(message);
  return {
    id,
    what: "the producer sent it twice (two SQS messages)",
    happened: () => sqsIds(harness, id).size - 1,
  };
}

export async function malformed({ send, deliveries }: Harness): Promise<PlannedFault> {
  const id = "malformed";
  await send(payment(id, { amount: 78.4 }));
  return {
    id,
    what: "its amount is 78.4: invalid",
    happened: () => Number(deliveries.of(id).length > 0),
  };
}

/** A producer's bug: one message id for two different payments. */
export async function twoAmounts(harness: Harness): Promise<PlannedFault> {
  const id = "two-amounts";
  const sentAt = new Date();
  for (const amount of [500, 700]) await harness.send(payment(id, { sentAt, amount }));
  return {
    id,
    what: "one message id with two amounts",
    happened: () => Number(sqsIds(harness, id).size > 1),
  };
}
