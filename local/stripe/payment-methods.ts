/** What confirming with a payment method leads to, off session. */
export type Confirmation =
  | { result: "succeeded" }
  /** A bank debit: Stripe knows days later whether it worked, so here it stays `processing`. */
  | { result: "processing" }
  /** The holder of a bank account must confirm the small deposits. */
  | { result: "requires_action" }
  | { result: "declined"; code: string; declineCode?: string; message: string; param?: string };

export type PaymentMethod = {
  type: "card" | "us_bank_account";
  /** Of an amount, where its network takes fewer than others. */
  mostDigits?: number;
  confirmation: Confirmation;
};

/**
 * The payment method of an id, or undefined when Stripe would not know it: a PaymentMethod, or a Card,
 * Source or BankAccount of the years before. Names are those of
 * https://docs.stripe.com/testing and https://docs.stripe.com/payments/ach-direct-debit. Any other is
 * a customer's working card or, as a BankAccount, a bank debit, unless "missing" is part of it.
 */
export function findPaymentMethod(id: string): PaymentMethod | undefined {
  if (!/^(?:pm|card|src|ba)_\w+$/.test(id) || id.includes("missing")) return undefined;
  if (id.startsWith("ba_")) return bankDebit("success");
  const bankAccount = /^pm_usBankAccount_(\w+)$/.exec(id)?.[1];
  if (bankAccount !== undefined) return bankDebit(bankAccount);
  const card = /^pm_card_(\w+)$/.exec(id)?.[1];
  if (card === undefined) return working;
  if (card === "amex") return { ...working, mostDigits: 9 };
  if (workingCards.has(card) || /^[a-z]{2}$/.test(card)) return working;
  if (authenticatedCards.has(card)) return authenticated;
  // Stripe has both spellings: pm_card_chargeDeclined and pm_card_visa_chargeDeclined.
  const decline = declines[card.replace(/^visa_/, "")];
  return decline && { type: "card", confirmation: { result: "declined", ...decline } };
}

const working: PaymentMethod = { type: "card", confirmation: { result: "succeeded" } };

const workingCards = new Set([
  "visa",
  "visa_debit",
  "mastercard",
  "mastercard_debit",
  "mastercard_prepaid",
  "discover",
  "diners",
  "jcb",
  "unionpay",
  "bypassPending",
  "threeDSecureOptional",
]);

const authenticatedCards = new Set([
  "authenticationRequired",
  "threeDSecureRequired",
  "threeDSecure2Required",
]);

/** Nobody is there to authenticate off session, so Stripe declines instead of asking. */
const authenticated: PaymentMethod = {
  type: "card",
  confirmation: {
    result: "declined",
    code: "authentication_required",
    declineCode: "authentication_required",
    message: "Your card was declined. This transaction requires authentication.",
  },
};

type Decline = { code: string; declineCode?: string; message: string; param?: string };

const declines: Record<string, Decline | undefined> = {
  chargeDeclined: cardDeclined("generic_decline"),
  chargeCustomerFail: cardDeclined("generic_decline"),
  chargeDeclinedInsufficientFunds: cardDeclined(
    "insufficient_funds",
    "Your card has insufficient funds.",
  ),
  chargeDeclinedLostCard: cardDeclined("lost_card"),
  chargeDeclinedStolenCard: cardDeclined("stolen_card"),
  chargeDeclinedFraudulent: cardDeclined("fraudulent"),
  radarBlock: cardDeclined("fraudulent"),
  chargeDeclinedVelocityLimitExceeded: cardDeclined(
    "card_velocity_exceeded",
    "Your card was declined for making repeated attempts too frequently or exceeding its amount limit.",
  ),
  // These three have no decline code: https://docs.stripe.com/testing#declined-payments.
  chargeDeclinedExpiredCard: {
    code: "expired_card",
    message: "Your card has expired.",
    param: "exp_month",
  },
  chargeDeclinedIncorrectCvc: {
    code: "incorrect_cvc",
    message: "Your card's security code is incorrect.",
    param: "cvc",
  },
  chargeDeclinedProcessingError: {
    code: "processing_error",
    message: "An error occurred while processing your card. Try again in a little bit.",
  },
};

function cardDeclined(declineCode: string, message = "Your card was declined."): Decline {
  return { code: "card_declined", declineCode, message };
}

const debits = new Set([
  "success",
  "processing",
  "accountClosed",
  "noAccount",
  "insufficientFunds",
  "debitNotAuthorized",
  "invalidCurrency",
  "dispute",
  "weeklyLimitExceeded",
]);

function bankDebit(name: string): PaymentMethod | undefined {
  if (name === "failMicrodeposits") return unverified;
  if (!debits.has(name)) return undefined;
  return { type: "us_bank_account", confirmation: { result: "processing" } };
}

/** The one that asks for something off session too: the holder must first confirm the small deposits. */
const unverified: PaymentMethod = {
  type: "us_bank_account",
  confirmation: { result: "requires_action" },
};
