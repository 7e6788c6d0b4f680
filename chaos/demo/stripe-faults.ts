// What goes wrong at Stripe and on the way back from it. The worker has no switch for any of this,
// and each fault counts how often it really happened.
import type { Fault } from "../../local/stripe/faults.ts";
import { atNextRequest } from "../harness/at-request.ts";
import { payment } from "../harness/harness.ts";
import type { Harness, PlannedFault } from "../harness/harness.ts";

/** SIGKILL between Stripe's charge and the record of it: the crash that doubles payments elsewhere. */
export async function killAfterCharge({ stack, send }: Harness): Promise<PlannedFault> {
  const id = "worker-killed";
  let killed = 0;
  const charged = { request: { to: "stripe", method: "POST" }, side: "after" } as const;
  atNextRequest(stack, charged, { messageId: id }, () => {
    killed += stack.worker.kill(`"${id}"`).length;
  });
  await send(payment(id));
  return {
    id,
    what: "the worker was killed after Stripe charged, before the record",
    happened: () => killed,
  };
}

export function loseReply(harness: Harness): Promise<PlannedFault> {
  const what = "Stripe charged, and its reply was lost";
  return meet(harness, "reply-lost", what, { kind: "dropAfter" });
}

export function failOnce(harness: Harness): Promise<PlannedFault> {
  return meet(harness, "stripe-500", "Stripe answered 500 once", {
    kind: "refuse",
    error: "server_error",
  });
}

/** Stripe charges, then stores a 500 with the key: no retry under that key gets past it. */
export function failForEver(harness: Harness): Promise<PlannedFault> {
  const what = "Stripe charged, but answered 500, and stored that for every retry";
  return meet(harness, "redriven", what, { kind: "storedErrorAfterCharge" });
}

export async function decline({ send, stack }: Harness): Promise<PlannedFault> {
  const id = "card-declined";
  await send(payment(id, { paymentMethod: "pm_card_chargeDeclinedInsufficientFunds" }));
  return {
    id,
    what: "the card is declined",
    happened: () =>
      stack.stripe.paymentIntents().filter(({ metadata }) => metadata["message_id"] === id).length,
  };
}

async function meet(
  { stack, send }: Harness,
  id: string,
  what: string,
  fault: Fault,
): Promise<PlannedFault> {
  const { happened } = stack.stripe.faults.add({ messageId: id }, fault);
  await send(payment(id));
  return { id, what, happened };
}
