// Sends events to webhook endpoints as Stripe does: signed, at least once, in no order, and again until
// they are accepted. https://docs.stripe.com/webhooks
import { setTimeout as sleep } from "node:timers/promises";

import { Stripe } from "stripe";

import { createFaults } from "../faults.ts";
import type { Faults } from "../faults.ts";
import type { Emitted, StripeEvent } from "./events.ts";
import { newId } from "./payment-intent.ts";
import type { WebhookEndpoints } from "./webhook-endpoints.ts";

/** One attempt to deliver an event, as it ended. */
export type Sending = {
  eventId: string;
  type: string;
  paymentIntentId: string | undefined;
  /** From 1. */
  attempt: number;
  /** The status that was answered; undefined when there was none. */
  status?: number | undefined;
};

/** What can be injected into a sending beside what can happen to any request. */
export type SendingFault =
  /** Sent twice. */
  | { kind: "duplicate" }
  /** The same change again, in an Event object of its own. */
  | { kind: "secondEvent" }
  /** Never sent, as to an endpoint that was disabled. */
  | { kind: "lost" }
  /** Sent with a signature that is not Stripe's. */
  | { kind: "forged" }
  /** Signed this long ago, ms; negative is ahead. */
  | { kind: "stale"; ms: number }
  /** Waits, so that what is sent later arrives earlier. */
  | { kind: "held"; until: Promise<void> };

export type WebhookSender = {
  faults: Faults<Sending, SendingFault>;
  /** Every attempt so far, oldest first. */
  sendings: () => readonly Sending[];
  /** Resolves when every event was accepted or given up. */
  idle: () => Promise<void>;
  send: (emitted: Emitted) => void;
  stop: () => Promise<void>;
};

// Stripe tries for three days; a laptop's patience is shorter.
const ATTEMPTS = 12;
const LONGEST_PAUSE_MS = 5_000;

export function createWebhookSender({
  endpoints,
  now,
  retryMs = 200,
  onSending,
}: {
  endpoints: WebhookEndpoints;
  /** Epoch ms, by which events are signed. */
  now: () => number;
  /** The pause after a first failure; it doubles. */
  retryMs?: number;
  onSending?: ((sending: Sending) => void) | undefined;
}): WebhookSender {
  const { armed, due } = createFaults<Sending, SendingFault>(() => "arriving");
  const stopping = new AbortController();
  const inFlight = new Set<Promise<void>>();
  const sendings: Sending[] = [];

  const wait = (ms: number) => sleep(ms, undefined, { signal: stopping.signal });

  async function post(
    url: string,
    event: StripeEvent,
    secrets: readonly string[],
    signedAt: number,
  ): Promise<number | undefined> {
    const payload = JSON.stringify(event, null, 2); // Stripe's own is indented
    const timestamp = Math.floor(signedAt / 1_000);
    const signatures = secrets.map((secret) =>
      Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp }),
    );
    const header = [`t=${timestamp}`, ...signatures.map((one) => one.split(",")[1])].join(",");
    try {
      const { status } = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json; charset=utf-8", "stripe-signature": header },
        body: payload,
        signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(20_000)]),
      });
      return status;
    } catch {
      return undefined;
    }
  }

  async function attempt(
    { url, secrets }: { url: string; secrets: readonly string[] },
    event: StripeEvent,
    number: number,
  ): Promise<boolean> {
    const sending: Sending = {
      eventId: event.id,
      type: event.type,
      paymentIntentId: paymentIntentOf(event),
      attempt: number,
    };
    sendings.push(sending);
    let signedAt = now();
    let signing = secrets;
    const also: StripeEvent[] = [];
    for (const { common, own } of due("arriving", sending, () => true)) {
      if (common && "ms" in common) await wait(common.ms);
      else if (own?.kind === "lost") return true;
      else if (own?.kind === "held") await own.until;
      else if (own?.kind === "stale") signedAt -= own.ms;
      else if (own?.kind === "forged") signing = ["whsec_another_endpoints"];
      else if (own?.kind === "duplicate") also.push(event);
      else if (own?.kind === "secondEvent") also.push({ ...event, id: newId("evt_3") });
    }
    sending.status = await post(url, event, signing, signedAt);
    onSending?.(sending);
    for (const one of also) await post(url, one, signing, signedAt);
    return sending.status !== undefined && sending.status < 300;
  }

  async function deliver(
    endpoint: { url: string; secrets: readonly string[] },
    event: StripeEvent,
  ): Promise<void> {
    for (let number = 1; number <= ATTEMPTS; number++) {
      if (await attempt(endpoint, event, number)) return;
      await wait(Math.min(LONGEST_PAUSE_MS, retryMs * 2 ** (number - 1)));
    }
  }

  return {
    faults: armed,
    sendings: () => sendings,
    send({ account, event }) {
      for (const { endpoint, secrets } of endpoints.of(account, event.type)) {
        const delivery = deliver({ url: endpoint.url, secrets }, event)
          .catch(() => {}) // stopped
          .finally(() => inFlight.delete(delivery));
        inFlight.add(delivery);
      }
    },
    async idle() {
      while (inFlight.size > 0) await Promise.all(inFlight);
    },
    async stop() {
      stopping.abort();
      await Promise.all(inFlight);
    },
  };
}

function paymentIntentOf({ data: { object } }: StripeEvent): string | undefined {
  const { id, object: kind, payment_intent: intent } = object as Record<string, unknown>;
  const found = kind === "payment_intent" ? id : intent;
  return typeof found === "string" ? found : undefined;
}
