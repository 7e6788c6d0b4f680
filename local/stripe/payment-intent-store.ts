import type { PaymentIntent } from "./payment-intent.ts";

export type Stored = { intent: PaymentIntent; createdMs: number };

/** The PaymentIntents of every account. They are never changed after they were added. */
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
