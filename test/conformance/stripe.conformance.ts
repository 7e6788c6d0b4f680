// The worker's requests against stripe-mock, and the local Stripe's answers against Stripe's own
// description of its API.

import { Ajv } from "ajv";
import { beforeAll, describe, expect, test } from "vitest";

import { chargeParams } from "../../lib/payments/charge.ts";
import { fixedKey } from "../../lib/stripe/api-key.ts";
import { stripeCharges } from "../../lib/stripe/charges.ts";
import { startStripe } from "../../local/stripe/server.ts";
import { during } from "./conform.ts";
import { startStripeMock, stripeDescription, stripeShapes } from "./servers/stripe-mock.ts";

const FULL = chargeParams({
  id: "order-1001",
  payment: {
    amount: 1200,
    currency: "eur",
    customer: "cus_ada",
    paymentMethod: "pm_card_visa",
    description: "Order 1001 — café ☕",
    statementDescriptorSuffix: "ORDER 1001",
    metadata: { order: "1001", "a key": "a&b=c" },
  },
});

/** Posts a create and reads the answer as it is on the wire. */
async function post(url: string, form: Record<string, string>) {
  const response = await fetch(`${url}/v1/payment_intents`, {
    method: "POST",
    headers: { authorization: "Bearer sk_test_local" },
    body: new URLSearchParams(form),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

describe("stripe-mock", () => {
  const server = during(startStripeMock);
  const charges = () => stripeCharges(fixedKey("sk_test_local"), new URL(server().url));

  test("takes the worker's create with every field", async () => {
    const options = { idempotencyKey: "order-1001", timeoutMs: 10_000 };

    const answer = await charges().create(FULL, options);

    // It has one answer to every create: a PaymentIntent whose last payment failed without a code.
    expect(answer).toMatchObject({
      kind: "outcome",
      outcome: { result: "declined", code: "card_error" },
    });
  });

  test("takes the worker's lookup, and the worker reads its page", async () => {
    const query = {
      messageId: "order-1001",
      customer: "cus_ada",
      amount: 1200,
      currency: "eur",
      since: 1_795_980_729_855,
    };

    expect(await charges().find(query, 10_000)).toEqual({ kind: "none" });
  });

  test("rejects a create with a field that Stripe does not have, or of another type", async () => {
    const unknown = { ...FULL, tip: 100 };
    const fraction = { ...FULL, amount: 78.4 };

    for (const params of [unknown, fraction]) {
      const options = { idempotencyKey: "order-1002", timeoutMs: 10_000 };
      expect(await charges().create(params, options)).toMatchObject({
        kind: "error",
        error: { kind: "stripe_rejected" },
      });
    }
  });
});

describe("the local Stripe", () => {
  const server = during(() => startStripe());
  let shapes: ReturnType<typeof stripeShapes>;
  beforeAll(() => {
    shapes = stripeShapes();
  });

  const form = (changes: Record<string, string> = {}) => ({
    amount: "1200",
    currency: "eur",
    customer: "cus_ada",
    payment_method: "pm_card_visa",
    confirm: "true",
    off_session: "true",
    "metadata[message_id]": "order-1001",
    ...changes,
  });

  test.each(["pm_card_visa", "pm_usBankAccount_processing", "pm_usBankAccount_failMicrodeposits"])(
    "answers a create with %s in the shape of Stripe's PaymentIntent",
    async (payment_method) => {
      const { status, body } = await post(server().url, form({ payment_method }));

      shapes.paymentIntent(body);

      expect(shapes.paymentIntent.errors).toBeNull();
      expect(status).toBe(200);
    },
  );

  test.each([
    [402, { payment_method: "pm_card_visa_chargeDeclined" }],
    [402, { payment_method: "pm_card_chargeDeclinedExpiredCard" }],
    [402, { payment_method: "pm_card_authenticationRequired" }],
    [400, { payment_method: "pm_card_missing" }],
    [400, { customer: "cus_missing" }],
    [400, { amount: "78.4" }],
    [400, { amount: "0" }],
    [400, { currency: "zzz" }],
    [400, { tip: "100" }],
  ])("answers %i to a create with %j in the shape of Stripe's error", async (status, changes) => {
    const answer = await post(server().url, form(changes));

    shapes.error(answer.body);

    expect(shapes.error.errors).toBeNull();
    expect(answer.status).toBe(status);
  });

  // JSON Schema counts code points.
  test.each([
    ["description", "é".repeat(1_000), "é".repeat(1_001)],
    ["description", "😀".repeat(1_000), "😀".repeat(1_001)],
    ["statement_descriptor_suffix", "X".repeat(22), "X".repeat(23)],
  ])(
    "takes a %s as long as Stripe's description allows, and no longer",
    async (name, fits, long) => {
      const { schema } =
        stripeDescription().paths["/v1/payment_intents"].post.requestBody.content[
          "application/x-www-form-urlencoded"
        ];
      const allows = new Ajv({ strict: false }).compile(schema.properties[name] as object);

      expect([allows(fits), allows(long)]).toEqual([true, false]);
      expect(await post(server().url, form({ [name]: fits }))).toMatchObject({ status: 200 });
      expect(await post(server().url, form({ [name]: long }))).toMatchObject({ status: 400 });
    },
  );

  test("pages of its list hold PaymentIntents in Stripe's shape", async () => {
    await post(server().url, form());
    const response = await fetch(`${server().url}/v1/payment_intents?customer=cus_ada&limit=3`, {
      headers: { authorization: "Bearer sk_test_local" },
    });
    const page = (await response.json()) as { data: unknown[] };

    expect(page).toMatchObject({ object: "list", url: "/v1/payment_intents" });
    expect(page.data.length).toBeGreaterThan(0);
    for (const intent of page.data) {
      shapes.paymentIntent(intent);
      expect(shapes.paymentIntent.errors).toBeNull();
    }
  });

  test("its balance transactions and their sources are in Stripe's shape", async () => {
    const { body } = await post(server().url, form());
    await post(server().url, form({ payment_method: "pm_usBankAccount_success", currency: "usd" }));
    server().refund(body["id"] as string, 200);
    const list = `${server().url}/v1/balance_transactions?expand[]=data.source`;
    const response = await fetch(list, { headers: { authorization: "Bearer sk_test_local" } });
    const page = (await response.json()) as { data: { source: { object: string; id: string } }[] };

    expect(page).toMatchObject({ object: "list", url: "/v1/balance_transactions" });
    const [refund, debit, charge] = page.data.map(({ source }) => source);
    expect([refund, debit, charge].map((one) => one?.object)).toEqual([
      "refund",
      "charge",
      "charge",
    ]);
    for (const { source, ...transaction } of page.data) {
      shapes.balanceTransaction({ ...transaction, source: source.id });
      expect(shapes.balanceTransaction.errors).toBeNull();
      const shape = source.object === "refund" ? shapes.refund : shapes.charge;
      shape(source);
      expect(shape.errors).toBeNull();
    }
  });

  test("knows every parameter of a create that Stripe has, though it does not act on all", async () => {
    const create = stripeDescription().paths["/v1/payment_intents"].post;
    const { schema } = create.requestBody.content["application/x-www-form-urlencoded"];
    // API 2026-10-28, which stripe-node and the local Stripe speak, no longer has this one.
    const { payment_method_types: _, ...properties } = schema.properties;
    const names = Object.keys(properties);

    const unknown: string[] = [];
    for (const name of names) {
      const { body } = await post(server().url, form({ [name]: "x" }));
      const { code, param } = (body["error"] ?? {}) as { code?: string; param?: string };
      if (code === "parameter_unknown" && param === name) unknown.push(name);
    }

    expect(names.length).toBeGreaterThan(30);
    expect(unknown).toEqual([]);
  });
});
