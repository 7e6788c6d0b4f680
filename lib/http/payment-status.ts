// A payment as its client sees it.

import { revisionOf } from "../outcomes/event.ts";
import type { IdempotencyRecord, Outcome } from "../payments/record.ts";

export type PaymentStatus = {
  id: string;
  /** `accepted`: no worker has it yet. `working`: one has, and it is not over. */
  status: "accepted" | "working" | "rejected" | Outcome["result"];
  /** In Stripe's smallest unit of the currency. */
  amount?: number;
  currency?: string;
  /** 0 without an outcome; it grows with each move forward. */
  revision: number;
  paymentIntentId?: string;
  /** Why the payment was not made. */
  code?: string;
  declineCode?: string;
};

/** `id` is the client's own key, without its caller. */
export function paymentStatus(id: string, record: IdempotencyRecord): PaymentStatus {
  const { outcome, amount, currency, lastError } = record;
  const known = {
    id,
    ...(amount !== undefined && { amount }),
    ...(currency !== undefined && { currency }),
    revision: revisionOf(record),
  };
  if (outcome) {
    const { result, paymentIntentId } = outcome;
    return {
      ...known,
      status: result,
      ...(paymentIntentId !== undefined && { paymentIntentId }),
      ...("code" in outcome && { code: outcome.code }),
      ...("declineCode" in outcome && { declineCode: outcome.declineCode }),
    };
  }
  if (record.attempt === 0) return { ...known, status: "accepted" };
  if (lastError?.kind !== "stripe_rejected" || record.leaseExpiresAt > 0) {
    return { ...known, status: "working" };
  }
  return { ...known, status: "rejected", ...(lastError.code && { code: lastError.code }) };
}

/** Whether the payment may still change without its client doing anything. */
export function isOpen({ status }: PaymentStatus): boolean {
  return ["accepted", "working", "processing", "requires_action"].includes(status);
}
