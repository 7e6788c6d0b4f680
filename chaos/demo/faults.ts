// What goes wrong in the demo: at Stripe, on the way back from it, with messages and their queue. The
// worker has no switch for any of this, and each fault counts how often it really happened.
import { ChangeMessageVisibilityCommand } from "@aws-sdk/client-sqs";

import type { Fault } from "../../local/stripe/faults.ts";
import { atNextRequest } from "../harness/at-request.ts";
import { payment } from "../harness/harness.ts";
import type { Harness, PlannedFault } from "../harness/harness.ts";
import { until } from "../harness/wait.ts";

const CHARGED = { request: { to: "stripe", method: "POST" }, side: "after" } as const;

/** The SQS messages under which a message id was delivered. */
export function sqsIds({ deliveries }: Harness, id: string): Set<string> {
  return new Set(deliveries.of(id).map(({ sqsId }) => sqsId));
}

/** Stripe charges, then stores a 500 with the key: no retry under that key gets past it. */
export function failForEver(harness: Harness): Promise<PlannedFault> {
  const what = "Stripe charged, but answered 500, and stored that for every retry";
  return atStripe(harness, "redriven", what, { kind: "storedErrorAfterCharge" });
}

/** SIGKILL between Stripe's charge and the record of it: the crash that doubles payments elsewhere. */
export async function killAfterCharge({ stack, send }: Harness): Promise<PlannedFault> {
  const id = "worker-killed";
  let killed = 0;
  atNextRequest(stack, CHARGED, { messageId: id }, () => {
    killed += stack.worker.kill(`"${id}"`).length;
  });
  await send(payment(id));
  const what = "the worker was killed after Stripe charged, before the record";
  return { id, what, happened: () => killed };
}

/**
 * The queue hands one message to two workers at once, as SQS may. The first worker waits for Stripe
 * meanwhile, for less than its own timeout, so on a busy machine the second can come too late: then
 * another message has its turn.
 */
export async function deliverTwiceAtOnce(harness: Harness): Promise<PlannedFault> {
  const { stack, send, sqs, deliveries } = harness;
  let id = "delivered-twice";
  for (let turn = 1; turn <= 5 && !deliveries.overlapped(id); turn++) {
    id = turn === 1 ? id : `delivered-twice-${turn}`;
    atNextRequest(stack, { ...CHARGED, side: "before" }, { messageId: id }, async () => {
      await sqs.send(
        new ChangeMessageVisibilityCommand({
          QueueUrl: stack.queues.queueUrl,
          ReceiptHandle: deliveries.of(id).at(-1)?.receiptHandle,
          VisibilityTimeout: 0,
        }),
      );
      await until(200, () => deliveries.overlapped(id));
    });
    await send(payment(id));
    await until(15_000, () => deliveries.isDone(id));
  }
  const what = "delivered to two workers at the same time";
  return { id, what, happened: () => Number(deliveries.overlapped(id)) };
}

/** The mishaps of ordinary days, one message each. */
export async function mishaps(harness: Harness): Promise<PlannedFault[]> {
  const { stack, send, deliveries } = harness;
  const repeated = payment("producer-retry");
  const sentAt = new Date();
  const declined = { paymentMethod: "pm_card_chargeDeclinedInsufficientFunds" };

  const failed = await atStripe(harness, "stripe-500", "Stripe answered 500 once", {
    kind: "refuse",
    error: "server_error",
  });
  for (let copy = 1; copy <= 2; copy++) await send(repeated); // the producer's own retry
  const lost = await atStripe(harness, "reply-lost", "Stripe charged, and its reply was lost", {
    kind: "dropAfter",
  });
  await send(payment("card-declined", declined));
  await send(payment("malformed", { amount: 78.4 }));
  // A producer's bug: one message id for two different payments.
  for (const amount of [500, 700]) await send(payment("two-amounts", { sentAt, amount }));

  return [
    failed,
    {
      id: repeated.id,
      what: "the producer sent it twice (two SQS messages)",
      happened: () => sqsIds(harness, repeated.id).size - 1,
    },
    lost,
    {
      id: "card-declined",
      what: "the card is declined",
      happened: () =>
        stack.stripe
          .paymentIntents()
          .filter(({ metadata }) => metadata["message_id"] === "card-declined").length,
    },
    {
      id: "malformed",
      what: "its amount is 78.4: invalid",
      happened: () => Number(deliveries.of("malformed").length > 0),
    },
    {
      id: "two-amounts",
      what: "one message id with two amounts",
      happened: () => Number(sqsIds(harness, "two-amounts").size > 1),
    },
  ];
}

async function atStripe(
  { stack, send }: Harness,
  id: string,
  what: string,
  fault: Fault,
): Promise<PlannedFault> {
  const { happened } = stack.stripe.faults.add({ messageId: id }, fault);
  await send(payment(id));
  return { id, what, happened };
}
