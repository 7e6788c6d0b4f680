// What producers send: payments in every shape, their repeats, and their bugs.
import { SHAPES } from "../../scripts/message-body.ts";
import type { Operation } from "../../scripts/message-body.ts";
import { payment } from "../harness/harness.ts";
import type { Harness } from "../harness/harness.ts";
import type { Sent } from "../harness/verdict.ts";
import { pause } from "../harness/wait.ts";
import type { Chance } from "./chance.ts";

const REPEATED = 0.06;
const TWO_AMOUNTS = 0.003;
const MALFORMED = 0.003;
/** What else than a charge Stripe makes of a payment method, and how often. */
const OTHER_METHODS = [
  ["pm_card_chargeDeclinedInsufficientFunds", 0.03],
  ["pm_card_authenticationRequired", 0.02],
  ["pm_usBankAccount_processing", 0.03],
] as const;

/** Clients of the payment API: each asks again when it has waited for too long. */
export async function payOverHttp(
  { order }: Harness,
  chance: Chance,
  signal: AbortSignal,
): Promise<void> {
  for (let count = 1; await pause(chance.between(100, 400), signal); count++) {
    const isDebit = chance.happens(0.2);
    const paymentMethod = isDebit ? "pm_usBankAccount_success" : "pm_card_visa";
    await order(`http-${count}`, { paymentMethod }, Math.round(chance.between(150, 1_000)));
  }
}

/** Returns what one operation puts into the queue, in order: one body, or more when it is repeated. */
export function createProducer(chance: Chance): () => Sent[] {
  let operations = 0;

  return () => {
    operations += 1;
    const id = `order-${operations}`;
    const other = OTHER_METHODS.find(([, share]) => chance.happens(share));
    const operation: Partial<Operation> & { amount: number } = {
      sentAt: new Date(),
      amount: 1_000 + (operations % 5_000),
      customer: `cus_${operations % 50}`,
      paymentMethod: other?.[0] ?? "pm_card_visa",
    };
    const { amount } = operation;
    const message = (changes: Partial<Operation> = {}): Sent =>
      payment(id, { ...operation, ...changes }, chance.pick(SHAPES));
    const first = message();
    // A fraction of a cent: invalid.
    if (chance.happens(MALFORMED)) return [payment(id, { ...operation, amount: amount + 0.5 })];
    if (chance.happens(TWO_AMOUNTS)) return [first, message({ amount: amount + 1 })];
    if (!chance.happens(REPEATED)) return [first];
    // The broker gives the repeat a new envelope, or the producer sends the same string again.
    return [first, chance.happens(0.5) ? first : message()];
  };
}
