// Whether an outcome is what Stripe's ledger says.

import { courseOf, later } from "../models/stripe-objects.ts";
import type { Intent, Status } from "../models/stripe-objects.ts";
import type { World } from "../world/world.ts";

export type Outcome = { result: string; paymentIntentId: string };

const RESULTS: Readonly<Record<Status, readonly string[]>> = {
  requires_action: ["requires_action"],
  processing: ["processing"],
  // At its creation, and later.
  requires_payment_method: ["declined", "failed"],
  succeeded: ["succeeded"],
  canceled: ["canceled"],
  requires_capture: [],
  requires_confirmation: [],
};

/** The results that a status can be recorded as. */
export const resultsOf = (status: Status): readonly string[] => RESULTS[status];

/** Whether Stripe's ledger says, or has said, the same of the message. */
export function isTrue(world: World, messageId: string, outcome: Outcome): boolean {
  const intent = world.stripe.intents.find(({ id }) => id === outcome.paymentIntentId);
  if (!intent || world.idOf.get(intent.payment_method) !== messageId) return false;
  if (outcome.result === "failed" && !world.outcomes) return false; // only the finalizer says so
  return statusesOf(world, intent).some((status) => RESULTS[status].includes(outcome.result));
}

function statusesOf({ outcomes, now, scenario }: World, intent: Intent): readonly Status[] {
  if (outcomes) return outcomes.history.get(intent.id) ?? [];
  // Under its key, Stripe repeats its first answer also when the PaymentIntent has moved since.
  const { first } = courseOf(intent.payment_method);
  return [first, intent.status, later(intent, now + scenario.stripeClock).status];
}
