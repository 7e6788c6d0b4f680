// What moves in the local Stripe's balance, and how it is listed.
import { expect, test } from "vitest";

import { payment, startedStripe } from "./stripe-fixture.ts";

const DEBIT = { payment_method: "pm_usBankAccount_success", currency: "usd" };

test("each movement is a transaction of its own type: charges, debits that fail, refunds", async () => {
  const { server, stripe } = await startedStripe();
  const card = await stripe.paymentIntents.create(payment());
  const debit = await stripe.paymentIntents.create(payment(DEBIT));
  await stripe.paymentIntents
    .create(payment({ payment_method: "pm_card_chargeDeclined" }))
    .catch(() => {});
  server.refund(card.id, 300);
  server.refund(card.id);
  server.step(debit.id, "fail");
  const { data } = await stripe.balanceTransactions.list();
  expect(
    data.map(({ type, reporting_category, amount }) => [type, reporting_category, amount]),
  ).toEqual([
    ["payment_failure_refund", "charge_failure", -1200],
    ["refund", "refund", -900],
    ["refund", "refund", -300],
    ["payment", "charge", 1200],
    ["charge", "charge", 1200],
  ]);
  expect(data.at(-1)).toMatchObject({
    source: card.latest_charge,
    fee: 65,
    net: 1135,
    status: "pending",
  });
});

test("a debit that is submitted after an authentication counts from then, and arriving adds nothing", async () => {
  const { server, stripe } = await startedStripe();
  const { id } = await stripe.paymentIntents.create(
    payment({ ...DEBIT, payment_method: "pm_usBankAccount_failMicrodeposits" }),
  );
  const count = async () => (await stripe.balanceTransactions.list()).data.length;
  expect(await count()).toBe(0);
  server.step(id, "process");
  expect(await count()).toBe(1);
  server.step(id, "succeed");
  expect(await count()).toBe(1);
});

test("the source is expanded: a charge keeps what it was made with, whatever became of the PaymentIntent", async () => {
  const { server, stripe } = await startedStripe();
  const { id } = await stripe.paymentIntents.create(
    payment({ metadata: { message_id: "order-1" } }),
  );
  server.edit(id, { metadata: {}, customer: "cus_eve" });
  server.refund(id, 200);
  const { data } = await stripe.balanceTransactions.list({ expand: ["data.source"] });
  expect(data.map(({ source }) => source)).toMatchObject([
    { object: "refund", amount: 200, payment_intent: id },
    {
      object: "charge",
      payment_intent: id,
      metadata: { message_id: "order-1" },
      customer: "cus_anna",
      amount_refunded: 200,
      status: "succeeded",
    },
  ]);
  const read = await stripe.paymentIntents.retrieve(id, {
    expand: ["latest_charge.balance_transaction"],
  });
  expect(read).toMatchObject({
    metadata: {},
    customer: "cus_eve",
    latest_charge: { balance_transaction: { id: data[1]?.id, amount: 1200 } },
  });
});

test("what is settled in another currency says at which rate, and what is not captured yet is not there", async () => {
  const { server, stripe, clock } = await startedStripe();
  server.balance.settleIn("eur", "usd", 1.1);
  server.balance.setLag(60_000);
  const { id } = await stripe.paymentIntents.create(payment());
  const expand = ["latest_charge.balance_transaction"];
  const early = await stripe.paymentIntents.retrieve(id, { expand });
  expect((await stripe.balanceTransactions.list()).data).toEqual([]);
  expect(typeof (early.latest_charge as { balance_transaction: unknown }).balance_transaction).toBe(
    "string",
  );
  clock.advance(60_000);
  expect((await stripe.balanceTransactions.list()).data).toMatchObject([
    { amount: 1320, currency: "usd", exchange_rate: 1.1 },
  ]);
});

test("a list is filtered, and pages as every list", async () => {
  const { stripe, clock } = await startedStripe();
  for (const changes of [{}, DEBIT, { currency: "gbp" }]) {
    await stripe.paymentIntents.create(payment(changes));
    clock.advance(1_000);
  }
  const currencies = async (query: Parameters<typeof stripe.balanceTransactions.list>[0]) =>
    (await stripe.balanceTransactions.list(query)).data.map(({ currency }) => currency);
  const [newest, , oldest] = (await stripe.balanceTransactions.list()).data;
  expect(await currencies({ type: "payment" })).toEqual(["usd"]);
  expect(await currencies({ currency: "gbp" })).toEqual(["gbp"]);
  expect(await currencies({ source: oldest?.source as string })).toEqual(["eur"]);
  expect(await currencies({ created: { gt: oldest?.created ?? 0 } })).toEqual(["gbp", "usd"]);
  expect(await currencies({ limit: 1, starting_after: newest?.id ?? "" })).toEqual(["usd"]);
  expect(await currencies({ payout: "po_1" })).toEqual([]);
  await expect(currencies({ starting_after: "txn_none" })).rejects.toThrow(
    "No such balance_transaction",
  );
});
