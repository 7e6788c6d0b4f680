import type { PaymentIntent } from "./payment-intent.ts";

type Stored = { intent: PaymentIntent; createdMs: number };

/** The PaymentIntents of every account. A change replaces one: what was handed out stays as it was. */
export function createPaymentIntentStore() {
  const byAccount = new Map<string, Stored[]>();
  const byId = new Map<string, { account: string; stored: Stored }>();
  const all: PaymentIntent[] = [];

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
