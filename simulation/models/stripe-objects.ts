// Stripe's objects, as far as the worker reads them.
// https://docs.stripe.com/api/payment_intents/object, https://docs.stripe.com/api/errors

export type Intent = {
  id: string;
  object: "payment_intent";
  amount: number;
  currency: string;
  customer: string;
  payment_method: string;
  description: string | null;
  metadata: Record<string, string>;
  /** Epoch seconds. */
  created: number;
  status: Status;
  last_payment_error: object | null;
};

export type Status =
  | "succeeded"
  | "processing"
  | "requires_action"
  | "requires_payment_method"
  | "canceled"
  | "requires_capture"
  | "requires_confirmation";

type Course = { first: Status; later?: Status; afterSeconds?: number };

const HOUR = 60 * 60;

/** By the kind of payment method: what a PaymentIntent is at first, and what it becomes. */
const COURSES: Readonly<Record<string, Course>> = {
  card: { first: "succeeded" },
  declined: { first: "requires_payment_method" },
  bankDebit: { first: "processing", later: "succeeded", afterSeconds: 48 * HOUR },
  needsAction: { first: "requires_action" },
  // In the Dashboard, by hand or by an integration that knows of no message.
  abandoned: { first: "requires_action", later: "canceled", afterSeconds: 12 * HOUR },
  reset: { first: "requires_action", later: "requires_payment_method", afterSeconds: 12 * HOUR },
  captured: { first: "requires_action", later: "requires_capture", afterSeconds: 12 * HOUR },
  confirmed: { first: "requires_action", later: "requires_confirmation", afterSeconds: 12 * HOUR },
};

export const KINDS = Object.keys(COURSES);

/** Those whose PaymentIntent moves on when the scheduler picks it. */
export const MOVING: Readonly<Record<string, { first: Status; moves: readonly Status[] }>> = {
  debit: { first: "processing", moves: ["succeeded"] },
  bounced: { first: "processing", moves: ["requires_payment_method"] },
  retried: { first: "processing", moves: ["requires_payment_method", "processing", "succeeded"] },
  action: { first: "requires_action", moves: ["processing", "succeeded"] },
  left: { first: "requires_action", moves: ["canceled"] },
  unpaid: { first: "requires_payment_method", moves: ["succeeded"] },
};

export const courseOf = (paymentMethod: string): Course => {
  const kind = paymentMethod.split("_")[1] ?? "";
  return COURSES[kind] ?? MOVING[kind] ?? { first: "succeeded" };
};

/** The PaymentIntent that a create with `confirm: true` makes. `now` is in epoch ms. */
export function confirmed(body: string, id: string, now: number): Intent {
  const form = new URLSearchParams(body);
  const metadata: Record<string, string> = {};
  for (const [name, value] of form) {
    const [, key] = /^metadata\[(.*)\]$/.exec(name) ?? [];
    if (key !== undefined) metadata[key] = value;
  }
  const payment_method = form.get("payment_method") ?? "";
  const { first } = courseOf(payment_method);
  return {
    id,
    object: "payment_intent",
    amount: Number(form.get("amount")),
    currency: form.get("currency") ?? "",
    customer: form.get("customer") ?? "",
    payment_method,
    description: form.get("description"),
    metadata,
    created: Math.floor(now / 1_000),
    status: first,
    last_payment_error: first === "requires_payment_method" ? DECLINE : null,
  };
}

/** The PaymentIntent as it is later. `now` is in epoch ms. */
export function later(intent: Intent, now: number): Intent {
  const { first, later: status, afterSeconds = 0 } = courseOf(intent.payment_method);
  const due = intent.created + afterSeconds <= now / 1_000;
  return status && due && intent.status === first ? { ...intent, status } : intent;
}

export const DECLINE = {
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

/** PaymentIntents of customer `cus_1` whose ids and contents resemble those of `pay-1`. */
export function strangers(kind: "none" | "alike" | "pages", start: number): Intent[] {
  if (kind === "none") return [];
  const of = (metadata: Record<string, string>, more: Partial<Intent> = {}): Intent => ({
    ...confirmed("amount=500&currency=eur&customer=cus_1&payment_method=pm_card_1", "", start),
    description: "Order 1",
    metadata,
    ...more,
  });
  const alike = [
    of({ message_id: "pay-11" }, { status: "canceled" }),
    ...["pay-100", "PAY-10", "pay-", "xpay-1", "Pay-1"].map((id) => of({ message_id: id })),
    of({}),
    of({ order: "1" }, { description: "pay-1" }),
  ];
  const others = kind === "pages" ? Array.from({ length: 210 }, () => of({ order: "1" })) : [];
  // After every first attempt of a message, and so before it in a list that is newest first.
  return [...alike, ...others].map((intent, i) => ({
    ...intent,
    id: `pi_other_${i + 1}`,
    created: intent.created + 2 * HOUR + i,
  }));
}
