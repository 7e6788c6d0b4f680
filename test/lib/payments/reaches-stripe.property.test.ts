// From a queue's body to the bytes on Stripe's side of the wire: nothing reaches Stripe that the
// rules reject, and what they allow arrives as the sender wrote it.

import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

import type { SQSClient } from "@aws-sdk/client-sqs";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";

import { createPaymentHandler } from "../../../lib/lambda/payment-handler.ts";
import { fixedKey } from "../../../lib/stripe/api-key.ts";
import { stripeCharges } from "../../../lib/stripe/charges.ts";
import { SEED } from "../../support/seed.ts";
import { CONTEXT, sqsEvent } from "../../support/sqs-event.ts";
import { WORKER_TIMINGS } from "../../support/timings.ts";
import { alteredMessage, NOW, validMessage, write } from "../message/generators.ts";
import { verdict } from "../message/oracle.ts";
import type { Valid } from "../message/oracle.ts";

const pair = ([name, value]: readonly [string, unknown]): string => `${name}=${String(value)}`;

type Seen = { line: string; key: string | undefined; form: string[] };

const seen: Seen[] = [];
async function note(request: IncomingMessage, response: ServerResponse): Promise<void> {
  // A message older than 23 hours is looked up first: there is nothing.
  if (request.method === "GET") return void response.end('{"data":[],"has_more":false}');
  seen.push({
    line: `${request.method} ${request.url}`,
    key: request.headers["idempotency-key"]?.toString(),
    form: [...new URLSearchParams(await text(request))].map(pair).toSorted(),
  });
  response.writeHead(200, { "content-type": "application/json" });
  response.end('{"id":"pi_1","object":"payment_intent","status":"succeeded","metadata":{}}');
}
const server = createServer((request, response) => void note(request, response));

beforeAll(async () => {
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** What reached Stripe for one delivery of that body. */
async function reaching(body: string): Promise<Seen[]> {
  const { port } = server.address() as AddressInfo;
  const unexpected = () => Promise.reject(new Error("Nothing may be asked of this."));
  const records = {
    claim: async () => undefined,
    complete: async () => true,
    takeOver: unexpected,
    release: unexpected,
  };
  const charges = stripeCharges(fixedKey("sk_test_local"), new URL(`http://127.0.0.1:${port}`));
  const before = seen.length;

  const handler = createPaymentHandler({
    records,
    charges,
    timings: WORKER_TIMINGS,
    queue: { client: { send: async () => ({}) } as unknown as SQSClient, url: "http://queue" },
    functionName: "payment-worker",
    now: () => NOW,
    newOwner: () => "owner",
    random: () => 0.5,
    write: () => {},
  });
  await handler(sqsEvent({ name: "1", body }), CONTEXT);
  return seen.slice(before);
}

/** The one request that Stripe must see for a valid message. */
function expected({ id, payment }: Valid): Seen {
  const { amount, currency, customer, paymentMethod, metadata = {} } = payment;
  const { description, statementDescriptorSuffix } = payment;
  const form: [string, unknown][] = [
    ["amount", amount],
    ["confirm", true],
    ["currency", currency],
    ["customer", customer],
    ["off_session", true],
    ["payment_method", paymentMethod],
    ["metadata[message_id]", id],
    ...Object.entries(metadata as object).map(
      ([key, value]) => [`metadata[${key}]`, value] as [string, unknown],
    ),
  ];
  if (description !== undefined) form.push(["description", description]);
  if (statementDescriptorSuffix !== undefined) {
    form.push(["statement_descriptor_suffix", statementDescriptorSuffix]);
  }
  return {
    line: "POST /v1/payment_intents",
    key: id,
    form: form.map(pair).toSorted(),
  };
}

test("a valid message reaches Stripe once, under its own id and with nothing lost or added", async () => {
  await fc.assert(
    fc.asyncProperty(validMessage.map(write), async (body) => {
      const valid = verdict(body, NOW);
      if (!valid) throw new Error("Bug! The generator made a message that is not valid.");

      expect(await reaching(body)).toEqual([expected(valid)]);
    }),
    { seed: SEED, numRuns: 300 },
  );
});

test("an altered message reaches Stripe as it now is, or not at all", async () => {
  await fc.assert(
    fc.asyncProperty(alteredMessage.map(write), async (body) => {
      const valid = verdict(body, NOW);

      expect(await reaching(body)).toEqual(valid ? [expected(valid)] : []);
    }),
    { seed: SEED, numRuns: 500 },
  );
});

test("no text that is no message reaches Stripe", async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.json(), fc.string({ unit: "binary" })), async (body) => {
      expect(await reaching(body)).toEqual([]);
    }),
    { seed: SEED, numRuns: 300 },
  );
});

test.each([
  "__proto__",
  "constructor",
  "toString",
  "length",
  "a.b",
  "a%5Bb",
  "ключ",
  "☕ & =",
  "0",
])("metadata under the key %j reaches Stripe", async (key) => {
  const metadata = `{${JSON.stringify(key)}:"value"}`;
  const body = `{"id":"order-1","createdAt":"2026-12-01T11:59:00Z","amount":80,"currency":"jpy","customer":"cus_a","paymentMethod":"pm_a","metadata":${metadata}}`;

  const [request] = await reaching(body);

  expect(request?.form).toContain(`metadata[${key}]=value`);
});
