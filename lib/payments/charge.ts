// What reaches Stripe for a message: a pure function of the message, and its fingerprint. A clock,
// an attempt or a receive count in here would make Stripe answer a retry with `idempotency_error`.

import { createHash } from "node:crypto";

import type { PaymentMessage } from "../message/decode.ts";

/** A message as Stripe and the table see it. */
export type ChargeRequest = {
  messageId: string;
  /** The sender's own time, in epoch ms. */
  sentAt: number;
  params: ChargeParams;
  fingerprint: string;
};

/** The body of POST /v1/payment_intents: https://docs.stripe.com/api/payment_intents/create */
export type ChargeParams = {
  amount: number;
  currency: string;
  customer: string;
  payment_method: string;
  confirm: true;
  off_session: true;
  description?: string;
  statement_descriptor_suffix?: string;
  metadata: Record<string, string>;
};

export function chargeRequest(message: PaymentMessage): ChargeRequest {
  const params = chargeParams(message);
  return {
    messageId: message.id,
    sentAt: message.sentAt,
    params,
    fingerprint: fingerprint(params),
  };
}

export function chargeParams({
  id,
  payment,
}: Pick<PaymentMessage, "id" | "payment">): ChargeParams {
  const { amount, currency, customer, paymentMethod, ...optional } = payment;
  const { description, statementDescriptorSuffix, metadata, ...nothing } = optional;
  // A field of the payment that is not named above, and sent below, does not compile.
  nothing satisfies Record<string, never>;
  return {
    amount,
    currency,
    customer,
    payment_method: paymentMethod,
    confirm: true,
    off_session: true,
    ...(description !== undefined && { description }),
    ...(statementDescriptorSuffix !== undefined && {
      statement_descriptor_suffix: statementDescriptorSuffix,
    }),
    metadata: { ...metadata, message_id: id },
  };
}

/** SHA-256, in hex, of the parameters with sorted keys: equal exactly when Stripe sees the same. */
export function fingerprint(params: ChargeParams): string {
  return createHash("sha256").update(canonical(params)).digest("hex");
}

function canonical(value: ChargeParams | ChargeParams[keyof ChargeParams]): string {
  if (typeof value !== "object") return JSON.stringify(value);
  const members = Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`);
  return `{${members.join()}}`;
}
