import type { LambdaFunctionURLEvent } from "aws-lambda";
import { Stripe } from "stripe";
import { expect, test } from "vitest";

import type { LogLine } from "../../../lib/lambda/emf.ts";
import { createWebhookHandler } from "../../../lib/lambda/webhook-handler.ts";
import { webhookSecrets } from "../../../lib/stripe/webhook-secret.ts";

const NOW = Date.parse("2026-11-30T12:00:00Z");
const SECRET = "whsec_current";
const ROLLED = "whsec_next_one";
const BODY = JSON.stringify({
  id: "evt_1",
  object: "event",
  type: "payment_intent.succeeded",
  livemode: false,
  data: { object: { id: "pi_1" } },
});

const LIVE = BODY.replace("false", "true");

const signed = (secret: string, body = BODY) => ({
  "stripe-signature": Stripe.webhooks.generateTestHeaderString({
    payload: body,
    secret,
    timestamp: NOW / 1_000,
  }),
});

const request = (headers: Record<string, string>, body = BODY) =>
  ({
    headers,
    body,
    isBase64Encoded: false,
    requestContext: { http: { method: "POST" }, requestId: "request-1" },
  }) as unknown as LambdaFunctionURLEvent;

/** A webhook whose secret is stored like this, one value after another, and whose queue may be down. */
function prepare({ stored = [SECRET], down = false }: { stored?: string[]; down?: boolean } = {}) {
  const sent: string[] = [];
  const lines: LogLine[] = [];
  const clock = { now: NOW };
  let asked = 0;
  let cached: string | undefined;
  const handle = createWebhookHandler({
    secret: {
      async get() {
        if (cached === undefined) {
          cached = stored[Math.min(asked, stored.length - 1)] ?? "";
          asked += 1;
        }
        return cached;
      },
      drop: () => void (cached = undefined),
    },
    mode: "test",
    async send(body) {
      if (down) throw Object.assign(new Error(body), { name: "TimeoutError" });
      sent.push(body);
    },
    functionName: "stripe-webhook",
    now: () => clock.now,
    write: (line) => lines.push(line),
  });
  const status = async (...args: Parameters<typeof request>) =>
    ((await handle(request(...args))) as { statusCode: number }).statusCode;
  return { handle, status, sent, lines, clock, asked: () => asked };
}

test("an event is on its queue, byte for byte, before Stripe hears 200", async () => {
  const { handle, sent, lines, asked } = prepare();
  const headers = { "content-type": "text/plain" };
  expect(await handle(request(signed(SECRET)))).toEqual({ statusCode: 200, headers, body: "" });
  expect(sent).toEqual([BODY]);
  expect(lines).toMatchObject([
    {
      level: "INFO",
      message: "accepted one of Stripe's events",
      stripeEventId: "evt_1",
      stripeEventType: "payment_intent.succeeded",
      requestId: "request-1",
      WebhookAccepted: 1,
    },
  ]);
  expect(asked()).toBe(1);
});

test("a queue that is away is answered with 500, so that Stripe sends the event again", async () => {
  const { status, lines } = prepare({ down: true });
  expect(await status(signed(SECRET))).toBe(500);
  expect(lines).toMatchObject([
    {
      level: "ERROR",
      message: "an event could not be accepted; Stripe sends it again",
      code: "TimeoutError",
      WebhookFailed: 1,
    },
  ]);
  expect(JSON.stringify(lines)).not.toContain("pi_1");
});

test.each<[reason: string, Record<string, string>, body: string, status: number, asked: number]>([
  ["no_signature", {}, BODY, 400, 1],
  ["signature", signed("whsec_another"), BODY, 400, 2], // perhaps it was rolled
  ["too_large", signed(SECRET), "x".repeat(600_000), 413, 1],
  ["mode", signed(SECRET, LIVE), LIVE, 400, 1],
])("what is not accepted (%s) is not sent", async (reason, headers, body, expected, times) => {
  const { status, sent, lines, asked } = prepare();
  expect(await status(headers, body)).toBe(expected);
  expect(sent).toEqual([]);
  expect(lines).toMatchObject([
    { level: "WARN", message: `not accepted: ${reason}`, reason, WebhookInvalid: 1 },
  ]);
  expect(asked()).toBe(times);
});

test.each([
  ["that was rolled is read again at once", [SECRET, `${SECRET},${ROLLED}`], ROLLED],
  ["that was pasted with a line break is good", [` ${SECRET}\n`], SECRET],
])("a secret %s", async (_, stored, used) => {
  const { status, sent } = prepare({ stored });
  expect(await status(signed(used))).toBe(200);
  expect(sent).toEqual([BODY]);
});

test("a flood of forged requests asks for the secret once a minute", async () => {
  const { status, clock, asked } = prepare();
  for (let index = 0; index < 20; index++) expect(await status(signed("whsec_forged"))).toBe(400);
  expect(asked()).toBe(2);
  clock.now += 60_000;
  await status(signed("whsec_forged"));
  expect(asked()).toBe(3);
});

test.each([
  "",
  "sk_test_1",
  "whsec_a,whsec_b,whsec_c",
  "whsec_ current",
  `${SECRET},sk_test_1`,
  `secret ${SECRET}`,
  `${SECRET} x`,
])("a stored secret that is none (%j) accepts nothing, and is not logged", async (stored) => {
  const { status, sent, lines } = prepare({ stored: [stored] });
  expect(await status(signed(SECRET))).toBe(500);
  expect(sent).toEqual([]);
  expect(lines).toMatchObject([{ level: "ERROR", code: "NoWebhookSecret" }]);
  expect(() => webhookSecrets(stored)).toThrow("The secret is not a Stripe signing secret: store");
});
