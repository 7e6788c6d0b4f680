// What goes wrong with messages and their queue, and the operator's redrive. The worker has no switch
// for any of this, and each fault tells how often it really happened.
import {
  ChangeMessageVisibilityCommand,
  ListMessageMoveTasksCommand,
  StartMessageMoveTaskCommand,
} from "@aws-sdk/client-sqs";

import { messageBody } from "../../scripts/message-body.ts";
import type { PlannedFault, Stage } from "./stage.ts";
import { within } from "./watch.ts";

/**
 * The queue hands one message to two workers at once, as SQS may. The first worker waits for Stripe
 * meanwhile, for less than its own timeout, so on a busy machine the second can come too late: then
 * another message has its turn.
 */
export async function deliverTwiceAtOnce(stage: Stage): Promise<PlannedFault> {
  let id = "delivered-twice";
  for (let turn = 1; turn <= 5 && !stage.watch.overlapped(id); turn++) {
    id = turn === 1 ? id : `delivered-twice-${turn}`;
    await deliverAgainDuringCharge(stage, id);
  }
  return {
    id,
    story: "delivered to two workers at the same time",
    happened: () => Number(stage.watch.overlapped(id)),
  };
}

async function deliverAgainDuringCharge(
  { stack, send, sqs, watch }: Stage,
  id: string,
): Promise<void> {
  const forgetThatItIsHandled = async (): Promise<void> => {
    await sqs.send(
      new ChangeMessageVisibilityCommand({
        QueueUrl: stack.queues.queueUrl,
        ReceiptHandle: watch.receiptHandle(id),
        VisibilityTimeout: 0,
      }),
    );
    await within(200, () => watch.overlapped(id));
  };
  stack.stripe.faults.add(
    { messageId: id },
    { kind: "hook", at: "received", run: forgetThatItIsHandled },
  );
  const sqsId = await send(id);
  await within(15_000, () => watch.deleted.has(sqsId));
}

/** The producer's own retry: the same operation in a new SQS message. */
export async function producerRetries({ send, watch }: Stage): Promise<PlannedFault> {
  const id = "producer-retried";
  const sentAt = new Date();
  const sqsIds = [await send(id, { sentAt }), await send(id, { sentAt })];
  return {
    id,
    story: "the producer sent it twice (two SQS messages)",
    happened: () => sqsIds.filter((sqsId) => watch.sqsIds(id).has(sqsId)).length - 1,
  };
}

export async function malformed({ sendBody, watch }: Stage): Promise<PlannedFault> {
  const id = "malformed";
  const body = JSON.stringify({
    id,
    createdAt: new Date().toISOString(),
    amount: 78.4,
    currency: "eur",
    customer: "cus_demo",
    paymentMethod: "pm_card_visa",
  });
  await sendBody(id, body, 78.4);
  return {
    id,
    story: "its amount is 78.4: refused",
    happened: () => Number(watch.deliveries.has(id)),
  };
}

/** A producer's bug: one message id for two different payments. */
export async function twoAmounts({ sendBody, watch }: Stage): Promise<PlannedFault> {
  const id = "two-amounts";
  const operation = {
    id,
    sentAt: new Date(),
    currency: "eur",
    customer: "cus_demo",
    paymentMethod: "pm_card_visa",
  };
  for (const amount of [500, 700]) {
    await sendBody(id, messageBody("plain", { ...operation, amount }), amount);
  }
  return {
    id,
    story: "one message id with two amounts",
    happened: () => Number(watch.sqsIds(id).size > 1),
  };
}

/**
 * An operator's redrive of the whole dead-letter queue. Every message gets a new SQS MessageId.
 *
 * @returns how many messages were moved
 */
export async function redrive({ stack, sqs }: Stage): Promise<number> {
  const SourceArn = stack.queues.dlqArn;
  await sqs.send(new StartMessageMoveTaskCommand({ SourceArn }));
  let moved = 0;
  await within(5_000, async () => {
    const { Results = [] } = await sqs.send(new ListMessageMoveTasksCommand({ SourceArn }));
    moved = Results[0]?.ApproximateNumberOfMessagesMoved ?? 0;
    return Results[0]?.Status === "COMPLETED";
  });
  return moved;
}
