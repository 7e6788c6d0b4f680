import { expect, test } from "vitest";

import { differingFields, maskBody } from "../../cli/explain/show-body.ts";
import type { ChargeParams } from "../../lib/payments/charge.ts";

test("a masked body shows the form of each value, and no value", () => {
  const body = JSON.stringify({
    id: "order-1",
    amount: 12.5,
    note: "Zoë paid 4242 4242 4242 4242",
    "4242424242424242": true,
    card4242: null,
    list: [{ customer: "cus_ada" }],
  });

  expect(JSON.parse(maskBody(body))).toEqual({
    id: "xxxxx-0",
    amount: "00.0",
    note: "xxx xxxx 0000 0000 0000 0000",
    "0000000000000000": true,
    xxxx0000: null,
    list: [{ customer: "xxx_xxx" }],
  });
});

test("a body that is not JSON is masked as it is, and a long one is cut", () => {
  expect(maskBody('{"card": 4242,')).toBe('{"xxxx": 0000,');
  expect(maskBody("a".repeat(5_000))).toBe(`${"x".repeat(4_000)} …`);
});

const CHARGED: ChargeParams = {
  amount: 1250,
  currency: "eur",
  customer: "cus_ada",
  payment_method: "pm_1Ab",
  confirm: true,
  off_session: true,
  metadata: { message_id: "order-1", shop: "a" },
};

test.each<[Partial<ChargeParams>, string[]]>([
  [{}, []],
  [{ metadata: { shop: "a", message_id: "order-1" } }, []],
  [{ amount: 700, customer: "cus_bob" }, ["amount", "customer"]],
  [
    { currency: "usd", payment_method: "pm_2Cd", description: "Again" },
    ["currency", "paymentMethod", "description"],
  ],
  [
    { statement_descriptor_suffix: "2", metadata: { message_id: "order-1" } },
    ["statementDescriptorSuffix", "metadata"],
  ],
  [{ payment_method: "pm_card_visa" }, []], // Stripe has replaced it
])("a payment with %j differs in %j", (changes, fields) => {
  expect(differingFields({ ...CHARGED, ...changes }, CHARGED)).toEqual(fields);
});
