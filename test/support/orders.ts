// An order that waits for its payment, and the outcome that pays it.

import type { Order } from "../../lib/orders/fulfill.ts";
import type { PaymentOutcome } from "../../lib/orders/payment-outcome.ts";

export const ORDER: Order = {
  messageId: "order-1",
  orderId: "1",
  status: "pending",
  amount: 1250,
  currency: "eur",
  sku: "tea",
  quantity: 2,
};

export const PAID: PaymentOutcome = {
  source: "urn:payment-worker:test",
  id: "order-1:1",
  messageId: "order-1",
  revision: 1,
  result: "succeeded",
  paymentIntentId: "pi_1",
  amount: 1250,
  currency: "eur",
  hash: "h1",
};
