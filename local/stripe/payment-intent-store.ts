import type { PaymentIntent } from "./payment-intent.ts";

export type Stored = { intent: PaymentIntent; createdMs: number };

/** The PaymentIntents of every account. A change replaces one: what was handed out stays as it was. */
export function createPaymentIntentStore() {
  const byAccount = new Map<string, Stored[]>();
  const byId = new Map<string, { account: string; stored: Stored }>();
  const all: PaymentIntent[] = [];
  const refunded = new Map<string, number>();

  return {
    add(account: string, stored: Stored): void {
      const own = byAccount.get(account) ?? [];
      own.push(stored);
      byAccount.set(account, own);
      byId.set(stored.intent.id, { account, stored });
      all.push(stored.intent);
    },
    replace(intent: PaymentIntent): void {
      const known = byId.get(intent.id);
      if (!known) throw new Error(`Bug! There is no PaymentIntent ${intent.id} to replace.`);
      all[all.indexOf(known.stored.intent)] = intent;
      known.stored.intent = intent;
    },
    /** Refunds a part of it, or all; the charge that it was paid by, as far as it is to be relied on. */
    refund({ id, latest_charge, amount }: PaymentIntent, part = amount): object {
      const total = Math.min(amount, (refunded.get(id) ?? 0) + part);
      refunded.set(id, total);
      return charge(id, latest_charge, amount, total);
    },
    /** The charge of a PaymentIntent, for those that ask for it to be expanded. */
    chargeOf: ({ id, latest_charge, amount }: PaymentIntent): object | null =>
      latest_charge === null ? null : charge(id, latest_charge, amount, refunded.get(id) ?? 0),
    /** The account that a PaymentIntent is of, and the PaymentIntent. */
    byId(id: string): { account: string; intent: PaymentIntent } | undefined {
      const known = byId.get(id);
      return known && { account: known.account, intent: known.stored.intent };
    },
    find(account: string, id: string): PaymentIntent | undefined {
      const found = byId.get(id);
      return found?.account === account ? found.stored.intent : undefined;
    },
    /** Oldest first. */
    of: (account: string): readonly Stored[] => byAccount.get(account) ?? [],
    /** Over all accounts, oldest first. */
    all: (): readonly PaymentIntent[] => all,
  };
}

export type PaymentIntentStore = ReturnType<typeof createPaymentIntentStore>;

function charge(
  intent: string,
  latest: PaymentIntent["latest_charge"],
  amount: number,
  amountRefunded: number,
): object {
  return {
    id: typeof latest === "string" ? latest : null,
    object: "charge",
    amount,
    amount_refunded: amountRefunded,
    payment_intent: intent,
    refunded: amountRefunded === amount,
  };
}
