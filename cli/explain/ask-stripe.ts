// What Stripe knows of a message. Only reads: asking cannot charge.
import { Stripe } from "stripe";

/** A PaymentIntent that carries the message id. Several would be a double charge, or declines. */
export type Found = Stripe.PaymentIntent;

const HOUR_MS = 60 * 60 * 1_000;

/**
 * The PaymentIntents that carry a message id, newest first. Search finds the old ones; it is up to a
 * minute behind, and up to an hour during outages, so the last hour (`now` is in epoch ms) is read
 * from the list, which is never behind.
 * https://docs.stripe.com/search#data-freshness
 */
export async function findAtStripe(
  stripe: Stripe,
  messageId: string,
  now: number,
): Promise<Found[]> {
  const searched = await searchAtStripe(stripe, messageId);
  const found = new Map(searched.map((intent) => [intent.id, intent] as const));
  const recent = { created: { gte: Math.floor((now - HOUR_MS) / 1_000) }, limit: 100 };
  for await (const intent of stripe.paymentIntents.list(recent)) {
    if (intent.metadata["message_id"] === messageId) found.set(intent.id, intent);
  }
  return [...found.values()].toSorted((a, b) => b.created - a.created);
}

/** What search finds for a message id, 100 at most: it may not know the newest yet. */
export async function searchAtStripe(stripe: Stripe, messageId: string): Promise<Found[]> {
  const quoted = messageId.replaceAll(/["\\]/g, String.raw`\$&`);
  const query = `metadata["message_id"]:"${quoted}"`;
  const { data } = await stripe.paymentIntents.search({ query, limit: 100 });
  return data.filter((intent) => intent.metadata["message_id"] === messageId);
}

// What only a key that may read charges and balance is shown.
const CHARGE = { expand: ["latest_charge.balance_transaction"] };

/** The PaymentIntent with its charge; undefined when Stripe has none under that id, for this key. */
export async function retrieveAtStripe(
  stripe: Stripe,
  paymentIntentId: string,
): Promise<Found | undefined> {
  try {
    return await stripe.paymentIntents.retrieve(paymentIntentId, CHARGE);
  } catch (error) {
    if (error instanceof Stripe.errors.StripePermissionError) {
      return stripe.paymentIntents.retrieve(paymentIntentId);
    }
    if ((error as { code?: string }).code === "resource_missing") return undefined;
    throw error;
  }
}
