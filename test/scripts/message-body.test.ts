import { expect, test } from "vitest";

import { decodeMessage } from "../../lib/message/decode.ts";
import { messageBody, SHAPES } from "../../scripts/message-body.ts";

const NOW = Date.parse("2026-11-29T12:00:00Z");
const LIMITS = { maxMessageAgeMs: 86_400_000, maxSenderAheadMs: 0 };

const OPERATION = { id: "order-7", amount: 80, currency: "jpy", customer: "cus_1" };

test.each(SHAPES)(
  "a %s message is read as the operation that was sent, at the sender's time",
  (shape) => {
    const sent = (at: number) =>
      decodeMessage(
        messageBody(shape, { ...OPERATION, paymentMethod: "pm_1", sentAt: new Date(at) }),
        NOW,
        LIMITS,
      );

    const { id, ...payment } = OPERATION;
    expect(sent(NOW)).toMatchObject({
      kind: "message",
      message: { id, payment: { ...payment, paymentMethod: "pm_1" } },
    });
    expect(sent(NOW - 86_400_001)).toMatchObject({
      kind: "invalid",
      violation: { rule: "message_too_old" },
    });
  },
);
