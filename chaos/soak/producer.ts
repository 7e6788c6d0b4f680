// What producers send: payments in every shape, their repeats, and their mistakes.
import { messageBody, SHAPES } from "../../scripts/message-body.ts";
import type { Operation } from "../../scripts/message-body.ts";
import type { Chance } from "./chance.ts";

/** A body as it was sent; a repeat of the same text is the same one. `amount` in minor units. */
export type Sent = { id: string; body: string; amount: number };

export type Producer = {
  /** What one operation puts into the queue, in order: one body, or more when it is repeated. */
  next: () => Sent[];
};

const REPEATED = 0.06;
const TWO_AMOUNTS = 0.003;
const MALFORMED = 0.003;
/** What else than a charge Stripe makes of a payment method, and how often. */
const OTHER_METHODS = [
  ["pm_card_chargeDeclinedInsufficientFunds", 0.03],
  ["pm_card_authenticationRequired", 0.02],
  ["pm_usBankAccount_processing", 0.03],
] as const;

export function startProducer(chance: Chance): Producer {
  let operations = 0;

  function paymentMethod(): string {
    const other = OTHER_METHODS.find(([, share]) => chance.happens(share));
    return other?.[0] ?? "pm_card_visa";
  }

  return {
    next() {
      operations += 1;
      const operation: Operation = {
        id: `order-${operations}`,
        sentAt: new Date(),
        amount: 1_000 + (operations % 5_000),
        currency: "eur",
        customer: `cus_${operations % 50}`,
        paymentMethod: paymentMethod(),
      };
      const first = sent(operation, chance);
      if (chance.happens(MALFORMED)) return [malformed(operation)];
      if (chance.happens(TWO_AMOUNTS)) {
        const other = { ...operation, amount: operation.amount + 1 };
        return [first, sent(other, chance)];
      }
      if (!chance.happens(REPEATED)) return [first];
      // The broker gives the repeat a new envelope, or the producer sends the same text again.
      return [first, chance.happens(0.5) ? first : sent(operation, chance)];
    },
  };
}

function sent(operation: Operation, chance: Chance): Sent {
  const { id, amount } = operation;
  return { id, amount, body: messageBody(chance.pick(SHAPES), operation) };
}

/** A fraction of a cent: refused. */
function malformed(operation: Operation): Sent {
  const amount = operation.amount + 0.5;
  return { id: operation.id, amount, body: messageBody("plain", { ...operation, amount }) };
}
