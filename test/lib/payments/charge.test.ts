import { expect, test } from "vitest";

import type { PaymentMessage } from "../../../lib/message/decode.ts";
import { chargeParams, fingerprint } from "../../../lib/payments/charge.ts";

const message: PaymentMessage = {
  id: "order-1001",
  sentAt: 1_795_953_600_000,
  payment: {
    amount: 1200,
    currency: "eur",
    customer: "cus_ada",
    paymentMethod: "pm_card_visa",
    description: "Two tickets",
    statementDescriptorSuffix: "TICKETS",
    metadata: { seat: "12A", order: "1001" },
  },
  traceId: "trace-1",
};

test("what reaches Stripe is the payment, confirmed off session, with the message id", () => {
  expect(chargeParams(message)).toEqual({
    amount: 1200,
    currency: "eur",
    customer: "cus_ada",
    payment_method: "pm_card_visa",
    confirm: true,
    off_session: true,
    description: "Two tickets",
    statement_descriptor_suffix: "TICKETS",
    metadata: { seat: "12A", order: "1001", message_id: "order-1001" },
  });
});

test("what a message leaves out does not reach Stripe, not even as nothing", () => {
  const { description, statementDescriptorSuffix, metadata, ...payment } = message.payment;

  expect([description, statementDescriptorSuffix, metadata]).not.toContain(undefined);
  expect(chargeParams({ id: "order-1001", payment })).toStrictEqual({
    amount: 1200,
    currency: "eur",
    customer: "cus_ada",
    payment_method: "pm_card_visa",
    confirm: true,
    off_session: true,
    metadata: { message_id: "order-1001" },
  });
});

test("the fingerprint is the SHA-256 of the parameters in sorted order", () => {
  // printf '%s' '{"amount":1200,…,"statement_descriptor_suffix":"TICKETS"}' | sha256sum
  expect(fingerprint(chargeParams(message))).toBe(
    "6e3e16a1070517359005a6f3052bf382dcd7ae77b29adc333ab4153718898bbd",
  );
});

test("the order of the sender's fields and the trace id do not change the fingerprint", () => {
  const { metadata, amount, ...rest } = message.payment;
  const reordered = { ...rest, metadata: { order: "1001", seat: "12A" }, amount };
  const other = { id: "order-1001", payment: reordered, traceId: "trace-2" };

  expect(metadata).toBeDefined();
  expect(fingerprint(chargeParams(other))).toBe(fingerprint(chargeParams(message)));
});

test.each([
  [{ amount: 1201 }],
  [{ currency: "usd" }],
  [{ customer: "cus_eve" }],
  [{ paymentMethod: "pm_card_amex" }],
  [{ description: "Three tickets" }],
  [{ statementDescriptorSuffix: "TICKET" }],
  [{ metadata: { seat: "12A" } }],
  [{ metadata: { seat: "12A", order: "1002" } }],
])("another %j is another fingerprint", (change) => {
  const other = { ...message, payment: { ...message.payment, ...change } };

  expect(fingerprint(chargeParams(other))).not.toBe(fingerprint(chargeParams(message)));
});
