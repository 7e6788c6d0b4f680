// What a suspicion comes to when both sides have been read again: they were read at different times,
// and a payment may have ended in between.

import type { IdempotencyRecord, Outcome } from "../payments/record.ts";
import { hasLiveLease } from "./compare.ts";
import { compareWithStripe } from "./comparison.ts";
import type { Comparison, Difference, StripeState } from "./comparison.ts";
import { addTo } from "./money.ts";
import type { Money, Totals } from "./money.ts";

export type Finding = {
  messageId: string;
  kind: Difference;
  /** What the record says; absent when it has no outcome, or there is no record. */
  recorded?: Outcome & Partial<Money>;
  atStripe: StripeState[];
};

// As the worker's own lookup: what was created before the first claim is another payment's.
const LOOK_BACK_MS = 5 * 60_000;
// Stripe captures after it answers: how long a charge may be missing in the balance.
const CAPTURE_MS = 2 * 60 * 60_000;

/** The finding, or undefined when record and Stripe agree. `now` is in epoch ms. */
export function findingOf(
  messageId: string,
  record: IdempotencyRecord | undefined,
  states: readonly StripeState[],
  now: number,
): Finding | undefined {
  if (record && hasLiveLease(record, now)) return undefined;
  const { amount, currency, outcome } = record ?? {};
  const recorded = outcome && {
    recorded: { ...outcome, ...(amount !== undefined && currency && { amount, currency }) },
  };
  const found = (kind: Difference, atStripe: readonly StripeState[]): Finding => ({
    messageId,
    kind,
    ...recorded,
    atStripe: [...atStripe],
  });
  const atStripe = ownStates(messageId, record, states);
  const { kind } = compareWithStripe(record, atStripe);
  if (kind !== "agree" && kind !== "nothing") return found(kind, atStripe);
  const edited = states.filter((state) => wasEdited(messageId, state));
  if (edited.length > 0) return found("edited", edited);
  if (kind === "nothing") return record && found("open", atStripe);
  return atStripe.some((state) => balanceDiffers(state, now))
    ? found("balance_differs", atStripe)
    : undefined;
}

/** Adds the money of what was read again, whatever it came to. */
export function addVerified(
  totals: Totals,
  messageId: string,
  record: IdempotencyRecord | undefined,
  states: readonly StripeState[],
  now: number,
): void {
  const own = ownStates(messageId, record, states);
  const taken = own.flatMap(({ charge }) => charge?.inBalance ?? []);
  for (const money of taken) addTo(totals.inBalance, money);
  const { outcome } = record ?? {};
  const state = own.find(({ paymentIntentId }) => paymentIntentId === outcome?.paymentIntentId);
  const paid = outcome?.result === "succeeded" && !(state && awaited(state, now));
  const { amount = state?.amount, currency = state?.currency } = record ?? {};
  if (!outcome || amount === undefined || currency === undefined) return;
  // A bank debit is in the balance from when it is submitted, and counts on both sides then.
  const counts = outcome.result !== "declined" && outcome.result !== "requires_action";
  if (paid || (counts && taken.length > 0)) addTo(totals.recorded, { amount, currency });
}

/** The state that a repair records: what took the money, else whatever is an outcome. */
export function unrecordedState({ kind, atStripe }: Finding): StripeState | undefined {
  const comparison: Comparison = compareWithStripe(undefined, atStripe);
  return kind === "not_recorded" && comparison.kind === "not_recorded"
    ? comparison.state
    : undefined;
}

/** Those that were made for this message, whatever their metadata say now. */
function ownStates(
  messageId: string,
  record: IdempotencyRecord | undefined,
  states: readonly StripeState[],
): StripeState[] {
  const recorded = record?.outcome?.paymentIntentId;
  return states.filter((state) => {
    const { charge, created, paymentIntentId } = state;
    const madeFor = charge?.messageId ?? state.messageId;
    if (madeFor !== messageId && !(madeFor === state.messageId && paymentIntentId === recorded)) {
      return false;
    }
    return !record || record.outcome || created >= record.firstClaimedAt - LOOK_BACK_MS;
  });
}

/** Whether its message id or its customer is not, or no longer, what it was charged with. */
function wasEdited(messageId: string, state: StripeState): boolean {
  const { charge } = state;
  if (state.messageId !== messageId) return true;
  if (charge?.messageId !== undefined && charge.messageId !== messageId) return true;
  return charge?.customer !== undefined && charge.customer !== state.customer;
}

/** Of one that is as it is recorded. */
function balanceDiffers(state: StripeState, now: number): boolean {
  const { outcome, charge, amount, currency } = state;
  if (outcome?.result !== "succeeded" || !charge) return false;
  if (!charge.inBalance) return !awaited(state, now);
  return charge.inBalance.amount !== amount || charge.inBalance.currency !== currency;
}

function awaited({ charge, created }: StripeState, now: number): boolean {
  return charge !== undefined && !charge.inBalance && now - created < CAPTURE_MS;
}

const WRONG_KEY_AT = 20;

/** Why so much is missing at Stripe, when it has nothing else of this worker's either. */
export function wrongAccount(intents: number, notAtStripe: number): string | undefined {
  if (intents > 0 || notAtStripe < WRONG_KEY_AT) return undefined;
  return `Stripe has no PaymentIntent of this worker in the period, and knows none of the first ${notAtStripe} that are recorded: is this the key of the right account, and live or test as the worker's?`;
}
