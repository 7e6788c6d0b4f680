import { expect, test } from "vitest";

import { ORDERS_TABLE } from "../../local/servers.ts";
import { startOperator } from "./operator.ts";

const HOUR_AGO = Date.now() - 3_600_000;

/** An operator, and lines in the orders table. */
async function prepare() {
  const operator = await startOperator();
  const line = (messageId: string, side: string, amount: number, currency = "eur") => {
    const item = { messageId, side, amount, currency, at: HOUR_AGO };
    return operator.put({ pk: `ledger#${messageId}#1#${side}`, ...item }, ORDERS_TABLE);
  };
  const book = async (messageId: string, amount: number, currency?: string) => {
    await line(messageId, "debit", amount, currency);
    await line(messageId, "credit", amount, currency);
  };
  return { ...operator, line, book };
}

test("debits and credits are added up by currency, and a message that is unbalanced is named", async () => {
  const { book, line, payments } = await prepare();
  await book("order-1", 1200);
  await book("order-2", 50);
  await book("order-3", 80, "jpy");
  expect(await payments("ledger")).toMatchObject({
    code: 0,
    stdout:
      "eur  debits 1250  credits 1250\njpy  debits 80  credits 80\n3 messages, 0 differences\n",
  });
  await line("order-4", "credit", 7);
  expect(await payments("ledger")).toMatchObject({
    code: 3,
    stdout: expect.stringContaining("order-4: unbalanced: debits 0, credits 7\n") as string,
  });
});

test("what succeeded is compared with its lines and with Stripe's charge", async () => {
  const { book, payments, send, put, record, stack } = await prepare();
  const ids = ["agrees", "differs", "unbooked", "recent"];
  for (const id of ids) await send(id);
  await stack.drained(20_000);
  for (const id of ids.filter((id) => id !== "recent")) {
    await put({ ...(await record(id)), completedAt: HOUR_AGO });
  }
  await book("agrees", 1250);
  await book("differs", 1300);
  await book("unpaid", 5);

  const { code, stdout } = await payments("ledger", "--check");
  const lines = stdout.replaceAll(/pi_\w+/g, "pi_…").split("\n");
  expect(lines.toSorted()).toEqual([
    "",
    "3 messages, 3 payments compared with Stripe, 3 differences",
    "differs: different: booked 1300 eur, recorded 1250 eur, charged 1250 eur (pi_…)",
    "eur  debits 2555  credits 2555",
    "unbooked: not booked: Stripe charged 1250 eur (pi_…)",
    "unpaid: not paid: booked 5 eur, and no recorded payment succeeded",
  ]);
  expect(code).toBe(3);
});
