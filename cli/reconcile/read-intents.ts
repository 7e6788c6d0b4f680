// Reads the period's PaymentIntents in slices of time, several at once, page by page: from the list,
// which is never behind as search is.
import type { Stripe } from "stripe";

import { stripeStateOf } from "../../lib/stripe/payment-intents.ts";
import type { Progress } from "../terminal/progress.ts";
import type { Checkpoint } from "./checkpoint.ts";
import type { Pace } from "./pace.ts";
import type { Partitions } from "./partitions.ts";

/** Returns when all slices are done or `signal` is aborted; `checkpoint` says where they are. */
export async function readAllIntents(
  stripe: Stripe,
  checkpoint: Checkpoint,
  partitions: Partitions,
  { pace, signal, progress }: { pace: Pace; signal: AbortSignal; progress: Progress },
): Promise<void> {
  const { slices, counts } = checkpoint;
  // Each slice is read from its end: how far it has come is an estimate of how much there is.
  const shares: number[] = slices.map(({ done }) => (done ? 1 : 0));
  let read = counts.intents + counts.foreign;
  progress.advance(read);

  const readSlice = async (slice: Checkpoint["slices"][number], index: number) => {
    for (;;) {
      if (slice.done || signal.aborted) return;
      const { gte, lt, after } = slice;
      const { data, has_more } = await pace(() =>
        stripe.paymentIntents.list({
          created: { gte, lt },
          limit: 100,
          ...(after !== undefined && { starting_after: after }),
        }),
      );
      for (const intent of data) {
        const messageId = intent.metadata["message_id"];
        if (messageId === undefined) {
          counts.foreign += 1; // another integration's: a shop's checkout, for one
          continue;
        }
        counts.intents += 1;
        partitions.add({ what: "intent", messageId, ...stripeStateOf(intent) });
      }
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
