// Sends events to webhook endpoints as Stripe does: signed, at least once, in no order, and again until
// they are accepted. https://docs.stripe.com/webhooks
import { setTimeout as sleep } from "node:timers/promises";

import { Stripe } from "stripe";

import { createFaults } from "../faults.ts";
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
type SendingFault =
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

type Target = { url: string; secret: string };

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
}) {
  const { armed, due } = createFaults<Sending, SendingFault>(() => "arriving");
  const stopping = new AbortController();
  const inFlight = new Set<Promise<void>>();
  const sendings: Sending[] = [];

  const wait = (ms: number) => sleep(ms, undefined, { signal: stopping.signal });

  async function post(
    url: string,
    event: StripeEvent,
    secret: string,
    signedAt: number,
  ): Promise<number | undefined> {
    const payload = JSON.stringify(event, null, 2); // Stripe's own is indented
    const timestamp = Math.floor(signedAt / 1_000);
    const header = Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp });
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
    { url, secret }: Target,
    event: StripeEvent,
    number: number,
  ): Promise<boolean> {
    const { id: eventId, type } = event;
    const paymentIntentId = paymentIntentOf(event);
    const sending: Sending = { eventId, type, paymentIntentId, attempt: number };
    sendings.push(sending);
    let signedAt = now();
    let signing = secret;
    const also: StripeEvent[] = [];
    for (const { common, own } of due("arriving", sending, () => true)) {
      if (common && "ms" in common) await wait(common.ms);
      else if (own?.kind === "lost") return true;
      else if (own?.kind === "held") await own.until;
      else if (own?.kind === "stale") signedAt -= own.ms;
      else if (own?.kind === "forged") signing = "whsec_another_endpoints";
      else if (own?.kind === "duplicate") also.push(event);
      else if (own?.kind === "secondEvent") also.push({ ...event, id: newId("evt_3") });
    }
    sending.status = await post(url, event, signing, signedAt);
    onSending?.(sending);
    for (const one of also) await post(url, one, signing, signedAt);
    return sending.status !== undefined && sending.status < 300;
  }

  async function deliver(target: Target, event: StripeEvent): Promise<void> {
    for (let number = 1; number <= ATTEMPTS; number++) {
      if (await attempt(target, event, number)) return;
      await wait(Math.min(LONGEST_PAUSE_MS, retryMs * 2 ** (number - 1)));
    }
  }

  return {
    faults: armed,
    /** Every attempt so far, oldest first. */
    sendings: (): readonly Sending[] => sendings,
    send: ({ account, event }: Emitted): void => {
      for (const { endpoint, secret } of endpoints.of(account, event.type)) {
        const delivery = deliver({ url: endpoint.url, secret }, event)
          .catch(() => {}) // stopped
          .finally(() => inFlight.delete(delivery));
        inFlight.add(delivery);
      }
    },
    /** Resolves when every event was accepted or given up. */
    idle: async (): Promise<void> => {
      while (inFlight.size > 0) await Promise.all(inFlight);
    },
    stop: async (): Promise<void> => {
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
