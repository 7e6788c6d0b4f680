// Reads a suspicion again, at the table and at Stripe, before it is reported.
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import type { Stripe } from "stripe";

import type { IdempotencyRecord } from "../../lib/payments/record.ts";
import { hasLiveLease } from "../../lib/reconcile/compare.ts";
import type { Suspicion } from "../../lib/reconcile/compare.ts";
import { addVerified, findingOf, unrecordedState } from "../../lib/reconcile/finding.ts";
import type { Finding } from "../../lib/reconcile/finding.ts";
import type { Totals } from "../../lib/reconcile/money.ts";
import type { Pace } from "../../lib/stripe/pace.ts";
import { stripeStateOf } from "../../lib/stripe/payment-intents.ts";
import { readRecords } from "../clients/records.ts";
import { retrieveAtStripe, searchAtStripe } from "../explain/ask-stripe.ts";

/** Where to read again. */
export type Sources = {
  table: DynamoDBDocumentClient;
  tableName: string;
  stripe: Stripe;
  pace: Pace;
};

/** A finding with what is needed to repair it. */
export type Verified = {
  finding: Finding;
  record: IdempotencyRecord | undefined;
  /** The PaymentIntent whose outcome is not recorded. */
  intent: Stripe.PaymentIntent | undefined;
};

/** Those suspicions that still hold. `now` is in epoch ms. Money is added to `totals`, if it counts. */
export async function verify(
  suspicions: readonly Omit<Suspicion, "kind">[],
  sources: Sources,
  now: () => number,
  totals?: Totals,
): Promise<Verified[]> {
  const ids = suspicions.map(({ messageId }) => messageId);
  const records = await readRecords(sources.table, sources.tableName, ids);
  const verified = await Promise.all(
    suspicions.map(async ({ messageId, paymentIntentIds, counted }) => {
      const record = records.get(messageId);
      if (record && hasLiveLease(record, now())) return undefined; // spares the requests
      const intents = await readIntents(messageId, paymentIntentIds, sources);
      const states = intents.map(stripeStateOf);
      if (counted && totals) addVerified(totals, messageId, record, states, now());
      const finding = findingOf(messageId, record, states, now());
      if (!finding) return undefined;
      const unrecorded = unrecordedState(finding)?.paymentIntentId;
      return { finding, record, intent: intents.find(({ id }) => id === unrecorded) };
    }),
  );
  return verified.filter((one) => one !== undefined);
}

async function readIntents(
  messageId: string,
  paymentIntentIds: readonly string[],
  { stripe, pace }: Sources,
): Promise<Stripe.PaymentIntent[]> {
  if (paymentIntentIds.length === 0) return pace(() => searchAtStripe(stripe, messageId));
  const read = await Promise.all(
    paymentIntentIds.map((id) => pace(() => retrieveAtStripe(stripe, id))),
  );
  return read.filter((intent) => intent !== undefined);
}
