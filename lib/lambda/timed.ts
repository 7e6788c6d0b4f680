// How long the table and Stripe take for one delivery.

import type { Records } from "../payments/claim.ts";
import type { Charges } from "../payments/protocol.ts";

/** In ms, over all calls of a kind. */
export type Times = { claimMs?: number; chargeMs?: number; completeMs?: number };

/** The same table and Stripe, with their times as they come. `now` is in ms. */
export function timed(
  { records, charges }: { records: Records; charges: Charges },
  now: () => number,
): { records: Records; charges: Charges; times: Times } {
  const times: Times = {};
  const measured =
    <A extends unknown[], R>(name: keyof Times, call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      const began = now();
      try {
        return await call(...args);
      } finally {
        times[name] = (times[name] ?? 0) + now() - began;
      }
    };
  return {
    times,
    records: {
      ...records,
      claim: measured("claimMs", (...args) => records.claim(...args)),
      takeOver: measured("claimMs", (...args) => records.takeOver(...args)),
      complete: measured("completeMs", (...args) => records.complete(...args)),
    },
    charges: {
      create: measured("chargeMs", (...args) => charges.create(...args)),
      find: measured("chargeMs", (...args) => charges.find(...args)),
    },
  };
}
