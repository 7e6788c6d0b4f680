import { expect, test } from "vitest";

import { failureOf, payment, startedStripe } from "./stripe-fixture.ts";

test("search finds a PaymentIntent a minute after it was created and not before", async () => {
  const { clock, stripe } = await startedStripe();
  const query = "metadata['message_id']:'m-1'";
  const intent = await stripe.paymentIntents.create(payment({ metadata: { message_id: "m-1" } }));

  clock.advance(59_999);
  const early = await stripe.paymentIntents.search({ query });
  clock.advance(1);
  const late = await stripe.paymentIntents.search({ query });

  expect(early.data).toEqual([]);
  expect(late).toMatchObject({ object: "search_result", has_more: false, next_page: null });
  expect(late.data).toEqual([intent]);
});

test("the lag of search can be set, as in an outage", async () => {
  const { clock, server, stripe } = await startedStripe();
  server.setSearchLag(3_600_000);
  await stripe.paymentIntents.create(payment());

  clock.advance(3_599_999);
  const early = await stripe.paymentIntents.search({ query: "customer:'cus_anna'" });
  clock.advance(1);
  const late = await stripe.paymentIntents.search({ query: "customer:'cus_anna'" });

  expect(early.data).toHaveLength(0);
  expect(late.data).toHaveLength(1);
});

test.for([
  ["metadata['message_id']:'m-2'", ["m-2"]],
  ['metadata["message_id"]:"m-2"', ["m-2"]],
  ["metadata['note']:'this AND that'", ["m-1"]],
  ["metadata['note']:'it\\'s'", ["m-2"]],
  ["metadata['note']:null", ["m-3"]],
  ["status:'succeeded'", ["m-2", "m-1"]],
  ["-status:'succeeded'", ["m-3"]],
  ["customer:'cus_ben' AND status:'succeeded'", ["m-2"]],
  ["customer:'cus_anna' OR amount>1999", ["m-3", "m-1"]],
  ["created>1772366400", ["m-3", "m-2"]],
  ["created>=1772366400 AND created<1772366402", ["m-2", "m-1"]],
  ["created<=1772366401", ["m-2", "m-1"]],
  ["created:1772366401", ["m-2"]],
] as const)("the query %s finds %o", async ([query, expected]) => {
  const { clock, server, stripe } = await startedStripe();
  server.setSearchLag(0);
  await stripe.paymentIntents.create(
    payment({ metadata: { message_id: "m-1", note: "this AND that" } }),
  );
  clock.advance(1000);
  await stripe.paymentIntents.create(
    payment({ customer: "cus_ben", metadata: { message_id: "m-2", note: "it's" } }),
  );
  clock.advance(1000);
  await stripe.paymentIntents.create(
    payment({
      customer: "cus_ben",
      amount: 2000,
      currency: "usd",
      payment_method: "pm_usBankAccount_success",
      metadata: { message_id: "m-3" },
    }),
  );

  const found = await stripe.paymentIntents.search({ query });

  expect(found.data.map(({ metadata }) => metadata["message_id"])).toEqual(expected);
});

test("the pages of a search follow each other", async () => {
  const { server, stripe } = await startedStripe();
  server.setSearchLag(0);
  const ids: string[] = [];
  for (let count = 0; count < 3; count += 1)
    ids.push((await stripe.paymentIntents.create(payment())).id);
  const query = "customer:'cus_anna'";

  const first = await stripe.paymentIntents.search({ query, limit: 2 });
  const second = await stripe.paymentIntents.search({
    query,
    limit: 2,
    page: first.next_page ?? "",
  });

  expect(first.data.map(({ id }) => id)).toEqual([ids[2], ids[1]]);
  expect(first.has_more).toBe(true);
  expect(second.data.map(({ id }) => id)).toEqual([ids[0]]);
  expect(second.has_more).toBe(false);
});

test.for([
  "",
  "colour:'red'",
  "status:'a' AND",
  "status:'a' AND customer:'b' OR amount>1",
  "nonsense",
  "metadata:'m-1'",
  "metadata['message_id']>'m-1'",
  "status>'a'",
  "amount:'many'",
])("the query '%s' is rejected", async (query) => {
  const { stripe } = await startedStripe();

  const error = await failureOf(stripe.paymentIntents.search({ query }));

  expect(error).toMatchObject({
    type: "StripeInvalidRequestError",
    statusCode: 400,
    param: "query",
  });
});
