// The webhook's signing secrets: one, or two while one is rolled, separated by a comma.

import { UnusableSecret } from "../aws/secret.ts";

/**
 * The secrets of a stored string, without the line breaks that come with pasting.
 *
 * @throws UnusableSecret
 */
export function webhookSecrets(stored: string): string[] {
  const secrets = stored.split(",").map((secret) => secret.trim());
  if (secrets.length <= 2 && secrets.every((secret) => /^whsec_[\w+/=-]+$/.test(secret))) {
    return secrets;
  }
  throw new UnusableSecret(
    "NoWebhookSecret",
    "The secret is not a Stripe signing secret: store it (whsec_…) as the plain secret string; two, separated by a comma, while it is rolled.",
  );
}
