// One request to Stripe with the key that is current, within a time, and its errors as answers.

import type { Agent } from "node:https";

import { Stripe } from "stripe";

import type { ChargeAnswer } from "../payments/protocol.ts";
import { answerOfError } from "./answers.ts";
import type { StripeKeys } from "./api-key.ts";
import { stripeHttpClient } from "./http-client.ts";

/** One call with the current key. It ends at `endsAt` (of `performance.now()`), the key included. */
type StripeCall = <T>(
  endsAt: number,
  run: (stripe: Stripe, timeout: number) => Promise<T>,
) => Promise<{ value: T } | { answer: ChargeAnswer }>;

/** Keys may change in flight. `base` is another address than Stripe's own. */
export function createStripeCall(keys: StripeKeys, base?: URL, httpsAgent?: Agent): StripeCall {
  const httpClient = stripeHttpClient(httpsAgent);
  let current: { key: string; stripe: Stripe } | undefined;
  const clientFor = (key: string): Stripe => {
    if (current?.key !== key) {
      const options = {
        httpClient,
        maxNetworkRetries: 0, // the queue is the retry
        telemetry: false,
        ...(base && hostOf(base)),
      };
      current = { key, stripe: new Stripe(key, options) };
    }
    return current.stripe;
  };

  return async (endsAt, run) => {
    let key: string;
    try {
      key = await keys.get();
    } catch (cause) {
      const code = cause instanceof Error ? cause.name : "unknown";
      return { answer: { kind: "error", error: { kind: "stripe_configuration", code } } };
    }
    const timeout = Math.floor(endsAt - performance.now());
    if (timeout <= 0) return { answer: { kind: "error", error: { kind: "deadline" } } };
    try {
      return { value: await withShortStack(() => run(clientFor(key), timeout)) };
    } catch (error) {
      const answer = answerOfError(error);
      if (answer.kind === "error" && answer.error.kind === "stripe_configuration") keys.drop(key);
      return { answer };
    }
  };
}

/**
 * stripe-node writes a stack trace for each call, in case it fails. One line of it is what we report.
 * What the others cost: bench/RESULTS.md.
 */
function withShortStack<T>(start: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 1;
  try {
    return start();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

function hostOf({ protocol, hostname, port }: URL) {
  const secure = protocol === "https:";
  const scheme: "https" | "http" = secure ? "https" : "http";
  return { protocol: scheme, host: hostname, port: Number(port || (secure ? 443 : 80)) };
}
