// Stripe's webhook: verifies an event and sends it to its queue.

import { createSecretsManager, createSqs } from "../lib/aws/clients.ts";
import { cachedSecret } from "../lib/aws/secret.ts";
import { messageSender } from "../lib/aws/send-message.ts";
import type { LogLine } from "../lib/lambda/emf.ts";
import { readWebhookEnvironment } from "../lib/lambda/environment.ts";
import { readCredentials } from "../lib/lambda/variables.ts";
import { createWebhookHandler } from "../lib/lambda/webhook-handler.ts";
import { webhookSecrets } from "../lib/stripe/webhook-secret.ts";

const { queueUrl, webhookSecret, stripeMode, functionName, callTimeoutMs } = readWebhookEnvironment(
  process.env,
);
const aws = { credentials: readCredentials(process.env), callTimeoutMs };
const now = Date.now;

const secret =
  "value" in webhookSecret
    ? { get: async () => webhookSecret.value, drop: () => {} }
    : cachedSecret(
        createSecretsManager(aws),
        webhookSecret.secretArn,
        callTimeoutMs,
        now,
        (stored) => webhookSecrets(stored).join(),
      );

export const handler = createWebhookHandler({
  secret,
  mode: stripeMode,
  send: messageSender(createSqs(aws), queueUrl, callTimeoutMs),
  functionName,
  now,
  write: (line: LogLine) => void process.stdout.write(`${JSON.stringify(line)}\n`),
});
