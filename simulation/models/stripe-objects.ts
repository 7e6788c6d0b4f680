// Stripe's objects, as far as the worker reads them.
// https://docs.stripe.com/api/payment_intents/object, https://docs.stripe.com/api/errors

export type Intent = {
  id: string;
  object: "payment_intent";
  amount: number;
  currency: string;
  customer: string;
  payment_method: string;
  metadata: Record<string, string>;
  /** Epoch seconds. */
  created: number;
  status: "succeeded" | "processing" | "requires_action" | "requires_payment_method";
  last_payment_error: object | null;
};

/** How a payment method ends; anything else succeeds at once. */
const STATUS: Readonly<Record<string, Intent["status"]>> = {
  pm_declined: "requires_payment_method",
  pm_bankDebit: "processing",
  pm_needsAction: "requires_action",
};

const SETTLES_AFTER_SECONDS = 2 * 24 * 60 * 60; // a bank debit takes days

/** The PaymentIntent that a create with `confirm: true` makes. `now` is in epoch ms. */
export function confirmed(body: string, id: string, now: number): Intent {
  const form = new URLSearchParams(body);
  const metadata: Record<string, string> = {};
  for (const [name, value] of form) {
    const [, key] = /^metadata\[(.*)\]$/.exec(name) ?? [];
    if (key !== undefined) metadata[key] = value;
  }
  const payment_method = form.get("payment_method") ?? "";
  const status = STATUS[payment_method] ?? "succeeded";
  return {
    id,
    object: "payment_intent",
    amount: Number(form.get("amount")),
    currency: form.get("currency") ?? "",
    customer: form.get("customer") ?? "",
    payment_method,
    metadata,
    created: Math.floor(now / 1_000),
    status,
    last_payment_error: status === "requires_payment_method" ? DECLINE : null,
  };
}

/** The PaymentIntent as it is later: a bank debit arrives. */
export function settled(intent: Intent, now: number): Intent {
  const due = intent.created + SETTLES_AFTER_SECONDS <= now / 1_000;
  return intent.status === "processing" && due ? { ...intent, status: "succeeded" } : intent;
}

const DECLINE = {
  type: "card_error",
  code: "card_declined",
  decline_code: "insufficient_funds",
  message: "Your card has insufficient funds.",
};

/** The 402 with which Stripe answers the create of a PaymentIntent that was declined. */
export function declineError(intent: Intent): object {
  return { ...DECLINE, payment_intent: intent };
}

export function errorBody(type: string, code?: string): object {
  return { error: { type, ...(code && { code }), message: `${type} ${code ?? ""}`.trim() } };
}
