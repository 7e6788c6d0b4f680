import type { Stripe } from "stripe";
import { expect, test } from "vitest";

import { clientOf, failureOf, payment, startedStripe } from "./stripe-fixture.ts";

async function fivePayments(): Promise<{ stripe: Stripe; ids: string[] }> {
  const { clock, stripe } = await startedStripe();
  const ids: string[] = [];
  for (const customer of ["cus_anna", "cus_ben", "cus_anna", "cus_anna", "cus_ben"]) {
    ids.push((await stripe.paymentIntents.create(payment({ customer }))).id);
    clock.advance(1000);
  }
  return { stripe, ids };
}

const idsOf = (page: { data: { id: string }[] }) => page.data.map(({ id }) => id);

test("a list shows every PaymentIntent at once, newest first", async () => {
  const { stripe, ids } = await fivePayments();

  const page = await stripe.paymentIntents.list();

  expect(page).toMatchObject({ object: "list", has_more: false, url: "/v1/payment_intents" });
  expect(idsOf(page)).toEqual([ids[4], ids[3], ids[2], ids[1], ids[0]]);
});

test("PaymentIntents of one second are listed newest first too", async () => {
  const { stripe } = await startedStripe();
  const first = await stripe.paymentIntents.create(payment());
  const second = await stripe.paymentIntents.create(payment());

  const page = await stripe.paymentIntents.list();

  expect(idsOf(page)).toEqual([second.id, first.id]);
});

test.for([
  [{ customer: "cus_ben" }, [4, 1]],
  [{ created: { gte: 1_772_366_403 } }, [4, 3]],
  [{ created: { gt: 1_772_366_403 } }, [4]],
  [{ created: { lte: 1_772_366_401 } }, [1, 0]],
  [{ created: { lt: 1_772_366_401 } }, [0]],
  [{ created: { gte: 1_772_366_401, lt: 1_772_366_403 } }, [2, 1]],
  [{ created: 1_772_366_402 }, [2]],
] as const)("the query %o finds those and no others", async ([query, expected]) => {
  const { stripe, ids } = await fivePayments();

  const page = await stripe.paymentIntents.list(query);

  expect(idsOf(page)).toEqual(expected.map((index) => ids[index]));
});

test("pages follow each other with starting_after, and the last says that it is the last", async () => {
  const { stripe, ids } = await fivePayments();

  const first = await stripe.paymentIntents.list({ limit: 2 });
  const second = await stripe.paymentIntents.list({
    limit: 3,
    starting_after: first.data[1]?.id ?? "",
  });

  expect(idsOf(first)).toEqual([ids[4], ids[3]]);
  expect(first.has_more).toBe(true);
  expect(idsOf(second)).toEqual([ids[2], ids[1], ids[0]]);
  expect(second.has_more).toBe(false);
});

test("the page before a PaymentIntent is the one next to it, newest first", async () => {
  const { stripe, ids } = await fivePayments();

  const page = await stripe.paymentIntents.list({ limit: 2, ending_before: ids[1] ?? "" });

  expect(idsOf(page)).toEqual([ids[3], ids[2]]);
  expect(page.has_more).toBe(true);
});

test("stripe-node's own paging walks over all of them once", async () => {
  const { stripe, ids } = await fivePayments();

  const all = await stripe.paymentIntents.list({ limit: 2 }).autoPagingToArray({ limit: 100 });

  expect(all.map(({ id }) => id)).toEqual([ids[4], ids[3], ids[2], ids[1], ids[0]]);
});

test("a list shows declined PaymentIntents, and none of another account", async () => {
  const { server, stripe } = await startedStripe();
  await failureOf(
    stripe.paymentIntents.create(payment({ payment_method: "pm_card_chargeDeclined" })),
  );

  const own = await stripe.paymentIntents.list();
  const other = await clientOf(server, "sk_test_other").paymentIntents.list();

  expect(own.data).toMatchObject([{ status: "requires_payment_method" }]);
  expect(other.data).toEqual([]);
});

test.for([
  [{ limit: 0 }, "limit", "This value must be greater than or equal to 1."],
  [{ limit: 101 }, "limit", "This value must be less than or equal to 100."],
  [{ limit: "ten" }, "limit", "Invalid integer: ten"],
  [{ created: { gte: "noon" } }, "created[gte]", "Invalid integer: noon"],
  [{ created: { since: 1 } }, "created[since]", "Received unknown parameter: created[since]"],
  [{ status: "succeeded" }, "status", "Received unknown parameter: status"],
  [{ starting_after: "pi_gone" }, "starting_after", "No such payment_intent: 'pi_gone'"],
] as const)("a list with %o is rejected", async ([params, param, message]) => {
  const { stripe } = await startedStripe();

  const error = await failureOf(
    stripe.paymentIntents.list(params as Stripe.PaymentIntentListParams),
  );

  expect(error).toMatchObject({
    type: "StripeInvalidRequestError",
    statusCode: 400,
    param,
    message,
  });
});
