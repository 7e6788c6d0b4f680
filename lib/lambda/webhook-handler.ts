// Stripe's webhook behind a function URL: verify, send to the queue, and only then answer 200. Stripe
// sends everything else again, for up to three days.

import type { LambdaFunctionURLEvent, LambdaFunctionURLResult } from "aws-lambda";

import type { Secret } from "../aws/secret.ts";
import type { StripeMode } from "../stripe/api-key.ts";
import { webhookSecrets } from "../stripe/webhook-secret.ts";
import { verifyWebhook } from "../stripe/webhook.ts";
import type { Verified } from "../stripe/webhook.ts";
import { count, embedMetrics } from "./emf.ts";
import type { LogLine, Metric } from "./emf.ts";

export type WebhookDeps = {
  /** The stored string of the signing secrets. */
  secret: Secret;
  mode?: StripeMode | undefined;
  /** Sends an event's body to its queue. */
  send: (body: string) => Promise<void>;
  functionName: string;
  /** Epoch ms. */
  now: () => number;
  write: (line: LogLine) => void;
};

// Anybody can send what does not verify: it must not make this function ask for its secret each time.
const ASK_AGAIN_MS = 60_000;

export function createWebhookHandler(deps: WebhookDeps) {
  const { secret, mode, send, functionName, now, write } = deps;
  let askedAgainAt = -Infinity;

  async function verify(event: LambdaFunctionURLEvent): Promise<Verified> {
    const request = {
      method: event.requestContext.http.method,
      headers: event.headers,
      body: event.body ?? "",
      isBase64Encoded: event.isBase64Encoded,
    };
    const stored = await secret.get();
    const verified = verifyWebhook(request, webhookSecrets(stored), mode, now());
    const mayBeRolled = verified.kind === "invalid" && verified.reason === "signature";
    if (!mayBeRolled || now() - askedAgainAt < ASK_AGAIN_MS) return verified;
    askedAgainAt = now();
    secret.drop(stored);
    return verifyWebhook(request, webhookSecrets(await secret.get()), mode, now());
  }

  return async (event: LambdaFunctionURLEvent): Promise<LambdaFunctionURLResult> => {
    const { requestId } = event.requestContext;
    const report = (level: string, message: string, fields: LogLine, metric: Metric) =>
      write({
        timestamp: new Date(now()).toISOString(),
        level,
        message,
        ...fields,
        requestId,
        ...embedMetrics([metric], functionName, now()),
      });
    try {
      const verified = await verify(event);
      if (verified.kind === "invalid") {
        const { status, reason } = verified;
        report("WARN", `not accepted: ${reason}`, { reason }, count("WebhookInvalid"));
        return answer(status);
      }
      const { body, eventId, type } = verified;
      await send(body);
      const fields = { stripeEventId: eventId, stripeEventType: type };
      report("INFO", "accepted one of Stripe's events", fields, count("WebhookAccepted"));
      return answer(200);
    } catch (cause) {
      // By name: the text of an SDK's error may quote what was sent.
      const code = cause instanceof Error ? cause.name : typeof cause;
      report(
        "ERROR",
        "an event could not be accepted; Stripe sends it again",
        { code },
        count("WebhookFailed"),
      );
      return answer(500);
    }
  };
}

function answer(statusCode: number): LambdaFunctionURLResult {
  return { statusCode, headers: { "content-type": "text/plain" }, body: "" };
}
