// stripe-node over our HTTP client, against small servers that misbehave.

import { readFileSync } from "node:fs";
import { Agent, createServer } from "node:http";
import type { RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Socket } from "node:net";

import { Stripe } from "stripe";
import { expect, test, vi } from "vitest";

import { answerOfError } from "../../../lib/stripe/answers.ts";
import { stripeHttpClient } from "../../../lib/stripe/http-client.ts";
import { listenTo } from "../../support/listen.ts";

/** A server with this listener, and a Stripe client of it. */
async function prepare(listener: RequestListener, tls?: { cert: Buffer; key: Buffer }) {
  const server = tls ? createTlsServer(tls, listener) : createServer(listener);
  const { port, sockets } = await listenTo(server);
  const stripe = new Stripe("sk_test_local", {
    httpClient: stripeHttpClient(),
    protocol: tls ? "https" : "http",
    host: "127.0.0.1",
    port,
    maxNetworkRetries: 0,
    telemetry: false,
  });
  return { stripe, port, connections: () => sockets.length };
}

const INTENT = JSON.stringify({ id: "pi_1", object: "payment_intent", status: "succeeded" });

const fine: RequestListener = (_request, response) => response.end(INTENT);

test.each(["http", "https"])("sockets for %s are kept and used again", async (protocol) => {
  vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0"); // nobody vouches for the test's certificate
  vi.spyOn(process, "emitWarning").mockReturnValue(); // Node warns of that
  const read = (name: string) =>
    readFileSync(new URL(`../../fixtures/tls/${name}`, import.meta.url));
  const identity = { cert: read("certificate.pem"), key: read("key.pem") };
  const { stripe, connections } = await prepare(fine, protocol === "https" ? identity : undefined);

  await stripe.paymentIntents.retrieve("pi_1");
  await stripe.paymentIntents.retrieve("pi_1");

  expect(connections()).toBe(1);
});

test("the worker streams nothing from Stripe", async () => {
  const { port } = await prepare(fine);
  const target = ["127.0.0.1", String(port), "/", "GET", {}, "", "http", 5_000] as const;

  const reply = await stripeHttpClient().makeRequest(...target);

  expect(() => reply.toStream(() => {})).toThrow("Bug! The worker streams nothing from Stripe.");
});

test("a kept socket that the server has closed is no failure: the request is sent once more", async () => {
  let requests = 0;
  const { stripe, connections } = await prepare((request, response) => {
    requests += 1;
    if (requests === 2) request.socket.destroy();
    else response.end(INTENT);
  });
  await stripe.paymentIntents.retrieve("pi_1");

  const intent = await stripe.paymentIntents.retrieve("pi_1");

  expect(intent.id).toBe("pi_1");
  expect([requests, connections()]).toEqual([3, 2]);
});

test.each([
  ["EPIPE", "pi_1"], // closed by the server, which shows only when it is written to
  ["EHOSTUNREACH", "StripeConnectionError"],
])("a kept socket that fails with %s ends with %s", async (code, expected) => {
  const kept = vi.spyOn(Agent.prototype, "keepSocketAlive");
  const { stripe } = await prepare(fine);
  await stripe.paymentIntents.retrieve("pi_1");
  await expect.poll(() => kept.mock.calls.length).toBe(1);
  const socket = kept.mock.calls[0]?.[0] as Socket;
  socket.write = () => {
    socket.destroy(Object.assign(new Error(`write ${code}`), { code }));
    return false;
  };

  const ended = await stripe.paymentIntents.retrieve("pi_1").then(
    ({ id }) => id,
    (error: Stripe.errors.StripeError) => error.type,
  );

  expect(ended).toBe(expected);
});

test("a fresh socket that is closed is a failure at once: nothing is sent behind our back", async () => {
  let requests = 0;
  const { stripe } = await prepare((request) => {
    requests += 1;
    request.socket.destroy();
  });

  const call = stripe.paymentIntents.create(
    { amount: 1200, currency: "eur" },
    { idempotencyKey: "order-1001" },
  );

  const error: unknown = await call.catch((error: unknown) => error);
  expect(error).toMatchObject({
    type: "StripeConnectionError",
    detail: { cause: { code: "ECONNRESET" } },
  });
  expect(error).not.toHaveProperty("detail.code"); // it would make stripe-node send again
  expect(requests).toBe(1);
});

test("a reply that is cut off in its body is a connection error, also over a kept socket", async () => {
  let requests = 0;
  const { stripe } = await prepare((_request, response) => {
    requests += 1;
    if (requests === 1) return void response.end(INTENT);
    response.writeHead(200, { "content-length": "1000" });
    response.write('{"id":', () => response.destroy());
  });
  await stripe.paymentIntents.retrieve("pi_1");

  const second = stripe.paymentIntents.retrieve("pi_1");

  await expect(second).rejects.toMatchObject({ type: "StripeConnectionError" });
  expect(requests).toBe(2);
});

test("a body that keeps trickling does not outlast the timeout, nor does its connection", async () => {
  const closed = Promise.withResolvers<void>();
  const { stripe } = await prepare((request, response) => {
    request.socket.once("close", closed.resolve);
    response.writeHead(200);
    const timer = setInterval(() => response.write(" "), 20);
    request.socket.once("close", () => clearInterval(timer));
  });

  const call = stripe.paymentIntents.retrieve("pi_1", {}, { timeout: 200 });

  await expect(call).rejects.toMatchObject({
    type: "StripeConnectionError",
    message: expect.stringContaining("Request aborted due to timeout being reached (200ms)"),
  });
  await closed.promise;
});

test.each([
  { status: 200, body: "<html>proxy</html>" },
  { status: 200, body: '"fine"' },
  { status: 200, body: "null" },
  { status: 200, body: "[]" },
  { status: 200, body: '{"error":"busy"}' },
  { status: 400, body: "{}" },
  { status: 429, body: '"Too many requests"' },
  { status: 429, body: "{}" },
  { status: 503, body: '{"message":"Service unavailable"}' },
  { status: 503, body: '{"error":null}' },
  { status: 404, body: "17" },
])("a proxy's $status with $body is an unknown result", async ({ status, body }) => {
  const { stripe } = await prepare((_request, response) => {
    response.writeHead(status).end(body);
  });

  const error: unknown = await stripe.paymentIntents.retrieve("pi_1").catch((e: unknown) => e);

  expect(error).toMatchObject({ type: "StripeAPIError" });
  expect(answerOfError(error)).toEqual({
    kind: "error",
    error: { kind: "stripe_unavailable", code: "no_json" },
  });
});
