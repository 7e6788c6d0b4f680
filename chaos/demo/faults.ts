// What goes wrong in the demo: at Stripe, on the way back from it, with messages and their queue. The
// worker has no switch for any of this, and each fault counts how often it really happened.
import { ChangeMessageVisibilityCommand } from "@aws-sdk/client-sqs";

import type { Fault } from "../../local/stripe/faults.ts";
import { atNextRequest } from "../harness/at-request.ts";
import { payment } from "../harness/harness.ts";
import type { Harness, PlannedFault } from "../harness/harness.ts";
import { until } from "../harness/wait.ts";

const CHARGED = { request: { to: "stripe", method: "POST" }, side: "after" } as const;

const planned = (id: string, what: string, happened: () => number): PlannedFault => ({
  id,
  what,
  happened,
});

const intentsOf = ({ stack }: Harness, id: string) =>
  stack.stripe.paymentIntents().filter(({ metadata }) => metadata["message_id"] === id);

/** The SQS messages under which a message id was delivered. */
export function sqsIds({ deliveries }: Harness, id: string): Set<string> {
  return new Set(deliveries.of(id).map(({ sqsId }) => sqsId));
}

/** Stripe charges, then stores a 500 with the key: no retry under that key gets past it. */
export function failForEver(harness: Harness): Promise<PlannedFault> {
  const what = "Stripe charged, but answered 500, and stored that for every retry";
  return atStripe(harness, "redriven", what, { kind: "storedErrorAfterCharge" });
}

const ORDER = "order-1001";
const CLIENT_MS = 400;

/**
 * An order whose client retries, whose worker dies between Stripe's charge and the record of it (the
 * crash that doubles payments elsewhere), and whose publisher dies before its checkpoint.
 */
export async function placeOrder(harness: Harness): Promise<PlannedFault[]> {
  const { stack, order, functionNamed } = harness;
  let killed = 0;
  atNextRequest(stack, CHARGED, { messageId: ORDER }, () => {
    killed += stack.worker.kill(`"${ORDER}"`).length;
  });
  let early = 0;
  stack.feed.subscribe((event) => {
    if (event.type !== "log" || event.function !== "payment-finalizer") return;
    if (event.line.includes('"in_progress"') && event.line.includes(`"${ORDER}"`)) early += 1;
  });
  const event = `${ORDER}:1`;
  stack.bus.faults.add(
    { where: ({ ids }) => ids.includes(event) },
    { kind: "hook", at: "applied", run: () => void functionNamed("outcome-publisher").kill() },
  );
  const door = functionNamed("payment-api").faults;
  const late = door?.add({ method: "POST" }, { kind: "delayAfter", ms: 3 * CLIENT_MS });
  const { attempts } = await order(ORDER, {}, CLIENT_MS);
  const published = () => stack.bus.bus.published().map(({ detail }) => detail as { id: string });
  return [
    planned(ORDER, "the answer came too late: the client asked again with the same key", () =>
      Math.min(late?.happened() ?? 0, attempts - 1),
    ),
    planned(ORDER, "the worker was killed after Stripe charged, before the record", () => killed),
    planned(ORDER, "Stripe's event came before the record, and came back later", () => early),
    planned(
      ORDER,
      "the publisher was killed before its checkpoint: one more event",
      () =>
        harness.killsOf("outcome-publisher") &&
        published().filter(({ id }) => id === event).length - 1,
    ),
  ];
}

const DEBIT = { paymentMethod: "pm_usBankAccount_success" };

/** Two bank debits: days later one arrives and one bounces, and Stripe's events about it go wrong. */
export async function debits(harness: Harness): Promise<PlannedFault[]> {
  const { stack, send } = harness;
  const { stripe, table, tableName } = stack;
  const ids = ["debit-arrives", "debit-bounces"] as const;
  for (const id of ids) await send(payment(id, DEBIT));
  const isRecorded = async (id: string) => (await table.item(tableName, id))?.["completedAt"];
  await until(10_000, async () => (await Promise.all(ids.map(isRecorded))).every(Boolean));
  const [arrives = "", bounces = ""] = ids.map((id) => intentsOf(harness, id)[0]?.id);
  const { faults, sendings } = stripe.webhooks;
  const replayed = faults.add({ paymentIntentId: arrives }, { kind: "duplicate" });
  faults.add({ paymentIntentId: bounces, attempt: 1 }, { kind: "forged" });
  if (arrives) stripe.step(arrives, "succeed");
  if (bounces) stripe.step(bounces, "fail");
  return [
    planned(ids[0], "Stripe's event was replayed", replayed.happened),
    planned(
      ids[1],
      "an event with a forged signature was turned away",
      () =>
        sendings().filter((one) => one.paymentIntentId === bounces && one.status === 400).length,
    ),
  ];
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
  return planned(id, "delivered to two workers at the same time", () =>
    Number(deliveries.overlapped(id)),
  );
}

/** The mishaps of ordinary days, one message each. */
export async function mishaps(harness: Harness): Promise<PlannedFault[]> {
  const { send, deliveries } = harness;
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
    planned(
      repeated.id,
      "the producer sent it twice (two SQS messages)",
      () => sqsIds(harness, repeated.id).size - 1,
    ),
    lost,
    planned(
      "card-declined",
      "the card is declined",
      () => intentsOf(harness, "card-declined").length,
    ),
    planned("malformed", "its amount is 78.4: invalid", () =>
      Number(deliveries.of("malformed").length > 0),
    ),
    planned("two-amounts", "one message id with two amounts", () =>
      Number(sqsIds(harness, "two-amounts").size > 1),
    ),
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
  return planned(id, what, happened);
}
