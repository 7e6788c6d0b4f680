// What goes wrong at Stripe and on the way back from it. The worker has no switch for any of this,
// and each fault tells how often it really happened.
import type { PlannedFault, Stage } from "./stage.ts";

/** SIGKILL between Stripe's charge and the record of it: the crash that doubles payments elsewhere. */
export async function killAfterCharge({ stack, send }: Stage): Promise<PlannedFault> {
  const id = "worker-killed";
  let killed = 0;
  stack.stripe.faults.add(
    { messageId: id },
    {
      kind: "hook",
      at: "applied",
      run: () => void (killed += stack.eventSource.kill(`"${id}"`).length),
    },
  );
  await send(id);
  return {
    id,
    story: "the worker was killed after Stripe charged, before the record",
    happened: () => killed,
  };
}

export async function loseReply({ stack, send }: Stage): Promise<PlannedFault> {
  const id = "reply-lost";
  const fault = stack.stripe.faults.add({ messageId: id }, { kind: "dropAfter" });
  await send(id);
  return { id, story: "Stripe charged, and its reply was lost", happened: fault.happened };
}

export async function failOnce({ stack, send }: Stage): Promise<PlannedFault> {
  const id = "stripe-500";
  const fault = stack.stripe.faults.add(
    { messageId: id },
    { kind: "refuse", error: "server_error" },
  );
  await send(id);
  return { id, story: "Stripe answered 500 once", happened: fault.happened };
}

/** Stripe charges, then stores a 500 with the key: no retry under that key gets past it. */
export async function failForEver({ stack, send }: Stage): Promise<PlannedFault> {
  const id = "redriven";
  const fault = stack.stripe.faults.add({ messageId: id }, { kind: "storedErrorAfterCharge" });
  await send(id);
  return {
    id,
    story: "Stripe charged, but answered 500, and stored that for every retry",
    happened: fault.happened,
  };
}

export async function decline({ send, stack }: Stage): Promise<PlannedFault> {
  const id = "card-declined";
  await send(id, { paymentMethod: "pm_card_chargeDeclinedInsufficientFunds" });
  return {
    id,
    story: "the card is declined",
    happened: () =>
      stack.stripe.paymentIntents().filter(({ metadata }) => metadata["message_id"] === id).length,
  };
}
