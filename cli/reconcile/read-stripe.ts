// Reads the period's PaymentIntents, and what moved in Stripe's balance, in slices of time, several at
// once, page by page: from the lists, which are never behind as search is.
import { Stripe } from "stripe";

import { addTransaction } from "../../lib/reconcile/money.ts";
import type { Pace } from "../../lib/stripe/pace.ts";
import { intentEntryOf, transactionOf } from "../../lib/stripe/payment-intents.ts";
import type { Progress } from "../terminal/progress.ts";
import type { Checkpoint, TimeSlice } from "./checkpoint.ts";
import type { Partitions } from "./partitions.ts";

type Options = { pace: Pace; signal: AbortSignal; progress: Progress };
type Page<T> = { data: T[]; has_more: boolean };
type Query = { created: { gte: number; lt: number }; limit: number; starting_after?: string };

/** Returns when all slices are done or `signal` is aborted; `checkpoint` says where they are. */
export async function readAllIntents(
  stripe: Stripe,
  { slices, counts }: Checkpoint,
  partitions: Partitions,
  options: Options,
): Promise<void> {
  options.progress.advance(counts.intents + counts.foreign);
  await readSlices(slices, options, counts.intents + counts.foreign, {
    list: (query) => stripe.paymentIntents.list(query),
    keep(intent) {
      const entry = intentEntryOf(intent);
      if (entry) {
        counts.intents += 1;
        partitions.add(entry);
      } else counts.foreign += 1; // another integration's: a shop's checkout, for one
    },
  });
}

/** The same for the balance, when the key may read it: `checkpoint.balanceRead` says so. */
export async function readBalance(
  stripe: Stripe,
  checkpoint: Checkpoint,
  partitions: Partitions,
  options: Options,
): Promise<void> {
  const { since, until, totals, moneySlices } = checkpoint;
  try {
    await readSlices(moneySlices, options, 0, {
      list: (query) => stripe.balanceTransactions.list({ ...query, expand: ["data.source"] }),
      keep(read) {
        const transaction = transactionOf(read);
        const { transactionId, created, charge } = transaction;
        if (created >= since && created < until) addTransaction(totals, transaction);
        if (charge) partitions.add({ what: "money", transactionId, created, ...charge });
      },
    });
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripePermissionError)) throw error;
    checkpoint.balanceRead = false;
  }
}

async function readSlices<T extends { id: string; created: number }>(
  slices: TimeSlice[],
  { pace, signal, progress }: Options,
  before: number,
  { list, keep }: { list: (query: Query) => Promise<Page<T>>; keep: (one: T) => void },
): Promise<void> {
  // Each slice is read from its end: how far it has come is an estimate of how much there is.
  const shares: number[] = slices.map(({ done }) => (done ? 1 : 0));
  let read = before;
  const readSlice = async (slice: TimeSlice, index: number) => {
    for (;;) {
      if (slice.done || signal.aborted) return;
      const { gte, lt, after } = slice;
      const { data, has_more } = await pace(() =>
        list({
          created: { gte, lt },
          limit: 100,
          ...(after !== undefined && { starting_after: after }),
        }),
      );
      for (const one of data) keep(one);
      const last = data.at(-1);
      if (last && has_more) slice.after = last.id;
      else slice.done = true;
      shares[index] = slice.done || !last ? 1 : (lt - last.created) / (lt - gte);
      read += data.length;
      const share = shares.reduce((sum, one) => sum + one, 0) / slices.length;
      if (share > 0) progress.expect(Math.round(read / share));
      progress.advance(data.length);
    }
  };
  await Promise.all(slices.map(readSlice));
}
