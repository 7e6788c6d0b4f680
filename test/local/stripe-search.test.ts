import { expect, test } from "vitest";

import { failureOf, payment, startedStripe } from "./stripe-fixture.ts";

test("search finds a PaymentIntent a minute after it was created and not before", async () => {
  const { clock, stripe } = await startedStripe();
  const query = 'metadata["message_id"]:"m-1"';
  const intent = await stripe.paymentIntents.create(payment({ metadata: { message_id: "m-1" } }));

  clock.advance(59_999);
  const early = await stripe.paymentIntents.search({ query });
  clock.advance(1);
  const late = await stripe.paymentIntents.search({ query });

  expect(early.data).toEqual([]);
  expect(late).toMatchObject({ object: "search_result", has_more: false });
  expect(late.data).toEqual([intent]);
});

test.for([
  ["metadata['message_id']:'m-2'", ["m-2"]],
  ['metadata["message_id"]:"m-2"', ["m-2"]],
  ["metadata['note']:'this AND that'", ["m-1"]],
  ["metadata['note']:'it\\'s'", ["m-2"]],
  ["metadata['note']:'nobody'", []],
] as const)("the query %s finds %o", async ([query, expected]) => {
  const { server, stripe } = await startedStripe();
  server.setSearchLag(0);
  for (const [message_id, note] of [
    ["m-1", "this AND that"],
    ["m-2", "it's"],
  ] as const) {
    await stripe.paymentIntents.create(payment({ metadata: { message_id, note } }));
  }

  const found = await stripe.paymentIntents.search({ query });

  expect(found.data.map(({ metadata }) => metadata["message_id"])).toEqual(expected);
});

test.for(["", "status:'succeeded'", "metadata:'m-1'", "metadata['a']>'m-1'"])(
  "the query '%s' is rejected",
  async (query) => {
    const { stripe } = await startedStripe();

    expect(await failureOf(stripe.paymentIntents.search({ query }))).toMatchObject({
      type: "StripeInvalidRequestError",
      param: "query",
    });
  },
);
