// Webhook endpoints and events at the local Stripe, with stripe-node, and what befalls an event on its way.
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";

import { Stripe } from "stripe";
import { expect, test } from "vitest";

import { listen } from "../support/listen.ts";
import { payment, START_MS, startedStripe } from "./stripe-fixture.ts";

/** Stripe with an endpoint of the test's, and what arrived there; `verified` by the endpoint's secret. */
async function startedEndpoint() {
  const started = await startedStripe();
  const arrived: { id: string; intent: unknown; verified: boolean }[] = [];
  let secret = "";
  const verified = (body: string, signature: string): boolean => {
    try {
      const { webhooks } = Stripe;
      return !!webhooks.constructEvent(body, signature, secret, 300, undefined, START_MS);
    } catch {
      return false;
    }
  };
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    const { id, data } = JSON.parse(body) as { id: string; data: { object: { id: string } } };
    const signature = String(request.headers["stripe-signature"]);
    arrived.push({ id, intent: data.object.id, verified: verified(body, signature) });
    response.end();
  };
  const receiver = createServer((request, response) => void receive(request, response));
  const url = `http://127.0.0.1:${await listen(receiver)}`;
  const endpoint = await started.stripe.webhookEndpoints.create({
    url,
    enabled_events: ["payment_intent.succeeded"],
  });
  secret = endpoint.secret ?? "";
  return { ...started, arrived, endpoint };
}

test("an endpoint hears of its types, signed with its secret, and of nothing while it is disabled", async () => {
  const { stripe, server, arrived, endpoint } = await startedEndpoint();

  const paid = await stripe.paymentIntents.create(payment());
  await stripe.webhookEndpoints.update(endpoint.id, { disabled: true });
  await stripe.paymentIntents.create(payment());
  await server.webhooks.idle();

  const { data: events } = await stripe.events.list({ type: "payment_intent.succeeded" });
  expect(events.map(({ data }) => data.object)).toMatchObject([{}, { id: paid.id }]); // newest first
  expect(arrived).toEqual([{ id: events[1]?.id, intent: paid.id, verified: true }]);
  expect((await stripe.webhookEndpoints.list()).data).toMatchObject([
    { id: endpoint.id, status: "disabled" },
  ]);
});

test.each([
  [{ kind: "duplicate" }, [true, true]],
  [{ kind: "lost" }, []],
  [{ kind: "forged" }, [false]],
  [{ kind: "stale", ms: 301_000 }, [false]],
] as const)("an event that meets %j arrives as %j", async (fault, verified) => {
  const { stripe, server, arrived } = await startedEndpoint();
  server.webhooks.faults.add({}, fault);

  await stripe.paymentIntents.create(payment());
  await server.webhooks.idle();

  expect(arrived.map((one) => one.verified)).toEqual(verified);
  expect(new Set(arrived.map(({ id }) => id)).size).toBe(Math.min(verified.length, 1));
});

test("an event that is held arrives after the later one", async () => {
  const { stripe, server, arrived } = await startedEndpoint();
  const { promise: until, resolve: go } = Promise.withResolvers<void>();
  server.webhooks.faults.add({}, { kind: "held", until });

  const first = await stripe.paymentIntents.create(payment());
  const second = await stripe.paymentIntents.create(payment());
  await expect.poll(() => arrived).toHaveLength(1);
  go();
  await server.webhooks.idle();

  expect(arrived.map(({ intent }) => intent)).toEqual([second.id, first.id]);
});
