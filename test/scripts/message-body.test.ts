import { expect, test } from "vitest";

import { decodeMessage } from "../../lib/message/decode.ts";
import { messageBody, SHAPES } from "../../scripts/message-body.ts";

const NOW = Date.parse("2026-11-29T12:00:00Z");
const LIMITS = { maxMessageAgeMs: 86_400_000, maxSenderAheadMs: 0 };

test.each(SHAPES)("a %s message is read as the operation that was sent", (shape) => {
  const body = messageBody(shape, {
    id: "order-7",
    sentAt: new Date(NOW),
    amount: 80,
    currency: "jpy",
    customer: "cus_1",
    paymentMethod: "pm_1",
  });

  expect(decodeMessage(body, NOW, LIMITS)).toMatchObject({
    kind: "message",
    message: {
      id: "order-7",
      payment: { amount: 80, currency: "jpy", customer: "cus_1", paymentMethod: "pm_1" },
    },
  });
});

test.each(SHAPES)("a %s message carries the sender's time", (shape) => {
  const body = messageBody(shape, {
    id: "order-7",
    sentAt: new Date(NOW - 86_400_001),
    amount: 80,
    currency: "jpy",
    customer: "cus_1",
    paymentMethod: "pm_1",
  });

  expect(decodeMessage(body, NOW, LIMITS)).toMatchObject({
    kind: "invalid",
    violation: { rule: "message_too_old" },
  });
});
