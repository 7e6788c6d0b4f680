// Stripe's side of a reconciliation, from a server that answers as Stripe documents.

import { createServer } from "node:http";

import { expect, test } from "vitest";

import { fixedKey } from "../../../lib/stripe/api-key.ts";
import { paymentLister } from "../../../lib/stripe/list-payments.ts";
import { listen } from "../../support/listen.ts";

type Answer = { status?: number; body: object };

/** A lister of a Stripe that gives these answers, one after the other; none: it never answers. */
async function prepare(answers: Answer[], timeoutMs = 5_000) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(decodeURIComponent((request.url ?? "").replaceAll("+", " ")));
    const next = answers.shift();
    if (next) response.writeHead(next.status ?? 200).end(JSON.stringify(next.body));
  });
  const base = new URL(`http://127.0.0.1:${await listen(server)}`);
  const settings = { timeoutMs, pace: <T>(call: () => Promise<T>) => call(), base };
  return { asked, lister: paymentLister(fixedKey("sk_test_local"), settings) };
}

async function all<T>(list: AsyncIterable<T>): Promise<T[]> {
  const read = [];
  for await (const one of list) read.push(one);
  return read;
}

const intent = (id: string, metadata: object = { message_id: `of-${id}` }) => ({
  id,
  object: "payment_intent",
  status: "succeeded",
  created: 1_700_000_000,
  amount: 1_200,
  currency: "eur",
  customer: null,
  latest_charge: null,
  metadata,
});
const refund = (id: string) => ({
  id,
  object: "balance_transaction",
  reporting_category: "refund",
  created: 1_700_000_000,
  amount: -5,
  currency: "eur",
  fee: 0,
  net: -5,
  source: "re_1",
});
const page = (has_more: boolean, ...data: object[]): Answer => ({ body: { data, has_more } });
const failed = (status: number, type = "api_error"): Answer => ({
  status,
  body: { error: { type } },
});

const WINDOW = { since: 1_700_000_000_001, until: 1_700_086_400_001 };
const BETWEEN = "created[gte]=1700000000&created[lt]=1700086401";

test("every page is read, each after the last one's last, in whole seconds that cover the window", async () => {
  const pages = (of: (id: string) => object) => [
    page(true, of("a1"), of("a2")),
    page(true, of("b1"), of("b2")),
    page(false, of("c1")),
  ];
  const intents = await prepare(pages((id) => (id === "b1" ? intent(id, {}) : intent(id))));
  const listed = await all(intents.lister.intents(WINDOW));
  expect(listed.map(({ messageId }) => messageId)).toEqual(["of-a1", "of-a2", "of-b2", "of-c1"]);
  expect(intents.asked).toEqual([
    `/v1/payment_intents?${BETWEEN}&limit=100`,
    `/v1/payment_intents?${BETWEEN}&limit=100&starting_after=a2`,
    `/v1/payment_intents?${BETWEEN}&limit=100&starting_after=b2`,
  ]);

  const money = await prepare(pages(refund));
  const moved = await all(money.lister.transactions(WINDOW));
  expect(moved.map((one) => one?.transactionId)).toEqual(["a1", "a2", "b1", "b2", "c1"]);
  expect(money.asked[2]).toBe(
    `/v1/balance_transactions?${BETWEEN}&limit=100&starting_after=b2&expand[0]=data.source`,
  );
});

test("an empty page is the last, whatever it says", async () => {
  const { lister } = await prepare([page(true)]);
  expect(await all(lister.intents(WINDOW))).toEqual([]);
});

test.each([
  [failed(500), { message: "stripe_unavailable", statusCode: undefined }],
  [failed(429), { message: "stripe_rate_limited", statusCode: 429 }],
  [failed(400, "invalid_request_error"), { message: "stripe_rejected" }],
  [failed(402, "card_error"), { message: "outcome" }],
])("after %j no list seems to be whole", async (answer, error) => {
  const name = "StripeUnavailable";
  const intents = await prepare([page(true, intent("a1")), answer]);
  await expect(all(intents.lister.intents(WINDOW))).rejects.toMatchObject({
    name,
    ...error,
  });
  const money = await prepare([page(true, refund("a1")), answer]);
  await expect(all(money.lister.transactions(WINDOW))).rejects.toMatchObject(error);
});

test("a key that may not read the balance gives nothing of it, and one that reads no PaymentIntents fails", async () => {
  const money = await prepare([failed(403)]);
  expect(await all(money.lister.transactions(WINDOW))).toEqual([undefined]);
  const intents = await prepare([failed(403)]);
  await expect(all(intents.lister.intents(WINDOW))).rejects.toThrow("stripe_configuration");
});

test.each([
  ["order-1", String.raw`"order-1"`],
  [String.raw`a"b\c"d`, String.raw`"a\"b\\c\"d"`],
])("PaymentIntents of %s are searched for", async (id, quoted) => {
  const { asked, lister } = await prepare([
    page(false, intent("pi_1")),
    failed(400, "invalid_request_error"),
  ]);
  expect(await lister.states(id, [], true)).toMatchObject([{ paymentIntentId: "pi_1" }]);
  expect(asked).toEqual([
    `/v1/payment_intents/search?query=metadata["message_id"]:${quoted}&limit=100`,
  ]);
  expect(await lister.states(id, [], true)).toEqual([]);
});

test.each([
  [true, "?expand[0]=latest_charge.balance_transaction"],
  [false, ""],
])(
  "PaymentIntents are read again, with the balance: %s, and one that is not there is left out",
  async (balance, query) => {
    const { asked, lister } = await prepare([
      { body: intent("pi_1") },
      failed(404, "invalid_request_error"),
      { body: intent("pi_3") },
    ]);
    const states = await lister.states("of-pi_1", ["pi_1", "pi_2", "pi_3"], balance);
    expect(states.map(({ paymentIntentId }) => paymentIntentId)).toEqual(["pi_1", "pi_3"]);
    expect(asked).toEqual(
      ["pi_1", "pi_2", "pi_3"].map((id) => `/v1/payment_intents/${id}${query}`),
    );
  },
);

test("no answer in time fails each of them", async () => {
  const { lister } = await prepare([], 50);
  for (const ask of [
    () => all(lister.intents(WINDOW)),
    () => all(lister.transactions(WINDOW)),
    () => lister.states("order-1", [], false),
    () => lister.states("order-1", ["pi_1"], false),
  ]) {
    await expect(ask()).rejects.toThrow("stripe_unavailable");
  }
});
