import { Stripe } from "stripe";
import { expect, test } from "vitest";

import { verifyWebhook } from "../../../lib/stripe/webhook.ts";
import type { WebhookRequest } from "../../../lib/stripe/webhook.ts";

const SECRET = "whsec_current";
const NOW = Date.parse("2026-11-30T12:00:00Z");
const BODY = JSON.stringify({
  id: "evt_1",
  object: "event",
  type: "payment_intent.succeeded",
  livemode: false,
  data: { object: { id: "pi_1", description: "Zwölf Tüten ☕" } },
});

const sign = (payload: string, secret = SECRET, at = NOW): string =>
  Stripe.webhooks.generateTestHeaderString({
    payload,
    secret,
    timestamp: Math.floor(at / 1_000),
  });

const request = (changes: Partial<WebhookRequest> = {}): WebhookRequest => ({
  method: "POST",
  headers: { "stripe-signature": sign(BODY) },
  body: BODY,
  isBase64Encoded: false,
  ...changes,
});

const verify = (changes: Partial<WebhookRequest> = {}, secrets: readonly string[] = [SECRET]) =>
  verifyWebhook(request(changes), secrets, "test", NOW);

const EVENT = { kind: "event", body: BODY, eventId: "evt_1", type: "payment_intent.succeeded" };

test("a signed event is handed on byte for byte", () => {
  expect(verify()).toStrictEqual(EVENT);
});

test("a body in base64 is verified as the bytes that were signed", () => {
  const body = Buffer.from(BODY).toString("base64");
  expect(verify({ body, isBase64Encoded: true })).toStrictEqual(EVENT);
});

test("while a secret is rolled, either secret and either of two signatures verify", () => {
  expect(verify({}, ["whsec_new", SECRET])).toStrictEqual(EVENT);
  const two = `${sign(BODY, "whsec_old")},${sign(BODY).split(",")[1]}`;
  expect(verify(withSignature(two))).toStrictEqual(EVENT);
});

const withSignature = (signature: string) => ({ headers: { "stripe-signature": signature } });
const signedAt = (at: number) => withSignature(sign(BODY, SECRET, at));
const AHEAD = sign(BODY, SECRET, NOW + 301_000)
  .split(",")
  .toReversed()
  .join();
const LONG = Buffer.alloc(524_289);

test.each<[string, string, number, Partial<WebhookRequest>]>([
  ["no signature", "no_signature", 400, { headers: {} }],
  ["another method", "method", 400, { method: "GET" }],
  ["another secret", "signature", 400, withSignature(sign(BODY, "whsec_x"))],
  ["one byte changed", "signature", 400, { body: BODY.replace("evt_1", "evt_2") }],
  ["the JSON written anew", "signature", 400, { body: JSON.stringify(JSON.parse(BODY), null, 1) }],
  ["the text of the base64", "signature", 400, { body: Buffer.from(BODY).toString("base64") }],
  ["no scheme that is known", "signature", 400, withSignature("t=1,v0=ab")],
  ["no header that can be read", "signature", 400, withSignature("\u{1F600}")],
  ["301 s of age", "timestamp", 400, signedAt(NOW - 301_000)],
  ["301 s ahead", "timestamp", 400, signedAt(NOW + 301_000)],
  [
    "301 s ahead, behind the signature and another time",
    "timestamp",
    400,
    withSignature(`t=${NOW / 1_000},${AHEAD}`),
  ],
  ["bytes that are not UTF-8", "not_utf8", 400, { body: "/w==", isBase64Encoded: true }],
  ["a body over the limit", "too_large", 413, { body: "x".repeat(524_289) }],
  [
    "a base64 body over the limit",
    "too_large",
    413,
    { body: LONG.toString("base64"), isBase64Encoded: true },
  ],
  ["a header over the limit", "too_large", 413, withSignature("v".repeat(4_097))],
])("%s: %s, %i", (_, reason, status, changes) => {
  expect(verify(changes)).toStrictEqual({ kind: "invalid", status, reason });
});

test("a body of 512 KiB with a header of 4,096 characters is accepted", () => {
  const body = BODY.replace("Zwölf", `Zwölf${" ".repeat(524_288 - Buffer.byteLength(BODY))}`);
  const headers = { "stripe-signature": `${sign(body)},`.padEnd(4_096, "v") };
  expect(verify({ body, headers })).toMatchObject({ kind: "event", body });
});

test("300 s of age and 300 s ahead are accepted", () => {
  for (const at of [NOW - 300_000, NOW + 300_000]) {
    expect(verify(signedAt(at))).toStrictEqual(EVENT);
  }
});

test.each([
  "[]",
  "null",
  '{"object":"event"}',
  '{"object":"event","id":"evt_1"}',
  '{"object":"event","type":"x"}',
  '{"object":"charge","id":"ch_1","type":"x"}',
  '{"object":"v2.core.event","id":"evt_1","type":"x"}',
  "{",
])("a signed body that is no event (%s) is invalid", (body) => {
  const invalid = { kind: "invalid", status: 400, reason: "not_an_event" };
  expect(verify({ body, ...withSignature(sign(body)) })).toStrictEqual(invalid);
});

test("an event of the other mode is invalid", () => {
  const body = BODY.replace('"livemode":false', '"livemode":true');
  const headers = { "stripe-signature": sign(body) };
  expect(verify({ body, headers })).toStrictEqual({ kind: "invalid", status: 400, reason: "mode" });
  expect(verifyWebhook(request(), [SECRET], "live", NOW)).toMatchObject({ reason: "mode" });
  for (const any of [request(), request({ body, headers })]) {
    expect(verifyWebhook(any, [SECRET], undefined, NOW)).toMatchObject({ kind: "event" });
  }
});

test("without a secret nothing verifies", () => {
  expect(verify({}, [])).toStrictEqual({ kind: "invalid", status: 400, reason: "signature" });
});
