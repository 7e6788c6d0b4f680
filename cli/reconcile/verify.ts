// Reads a suspicion again, at the table and at Stripe, before anybody is told: the two were read at
// different times, and a payment may have ended in between.
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import type { Stripe } from "stripe";

import type { IdempotencyRecord } from "../../lib/payments/record.ts";
import { readRecords } from "../clients/records.ts";
import { agreementOf, describeAgreement, truthOf } from "../explain/agreement.ts";
import { retrieveAtStripe, searchAtStripe } from "../explain/ask-stripe.ts";
import type { Suspicion } from "./compare.ts";
import type { Pace } from "./pace.ts";

export type Finding = {
  messageId: string;
  kind: Suspicion["kind"];
  /** What is wrong, for a person. */
  sentence: string;
  paymentIntentIds: string[];
};

/** Where to read again. */
export type Sources = {
  table: DynamoDBDocumentClient;
  tableName: string;
  stripe: Stripe;
  pace: Pace;
};

/** A finding with what is needed to repair it. */
export type Verified = Finding & {
  record: IdempotencyRecord | undefined;
  /** The PaymentIntent whose outcome is not recorded. */
  intent: Stripe.PaymentIntent | undefined;
};

// As the worker's own lookup: what was created before the first claim is another payment's.
const LOOK_BACK_MS = 5 * 60_000;

/** Those suspicions that still hold. `now` is in epoch ms. */
export async function verify(
  suspicions: readonly Suspicion[],
  sources: Sources,
  now: () => number,
): Promise<Verified[]> {
  const ids = suspicions.map(({ messageId }) => messageId);
  const records = await readRecords(sources.table, sources.tableName, ids);
  const verified = await Promise.all(
    suspicions.map((suspicion) =>
      verifyOne(suspicion, records.get(suspicion.messageId), sources, now()),
    ),
  );
  return verified.filter((one) => one !== undefined);
}

async function verifyOne(
  suspicion: Suspicion,
  record: IdempotencyRecord | undefined,
  { stripe, pace }: Sources,
  now: number,
): Promise<Verified | undefined> {
  const { messageId, paymentIntentIds } = suspicion;
  if (record && !record.outcome && record.leaseExpiresAt > now) return undefined; // at work on it
  const read = paymentIntentIds.length
    ? await Promise.all(paymentIntentIds.map((id) => pace(() => retrieveAtStripe(stripe, id))))
    : await pace(() => searchAtStripe(stripe, messageId));
  const intents = read.filter(
    (intent) =>
      intent !== undefined &&
      (!record || record.outcome || intent.created * 1_000 >= record.firstClaimedAt - LOOK_BACK_MS),
  ) as Stripe.PaymentIntent[];
  const agreement = agreementOf(record, intents.map(truthOf));
  const found = (kind: Finding["kind"], sentence: string, intent?: Stripe.PaymentIntent) => ({
    messageId,
    kind,
    sentence,
    paymentIntentIds: intents.map(({ id }) => id),
    record,
    intent,
  });
  switch (agreement.kind) {
    case "agree":
      return undefined;
    case "nothing":
      return record && found("open", "nobody holds its claim, and it was not charged");
    case "not_recorded": {
      const { truth } = agreement;
      return found(
        "not_recorded",
        `${truth.paymentIntentId} is ${truth.outcome?.result ?? truth.status} at Stripe, and not recorded`,
        intents.find(({ id }) => id === truth.paymentIntentId),
      );
    }
    case "moved_on":
    case "not_at_stripe":
    case "different":
    case "charged_twice":
      return found(agreement.kind, describeAgreement(agreement));
  }
}
