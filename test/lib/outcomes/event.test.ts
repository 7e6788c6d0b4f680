import { expect, test } from "vitest";

import { outcomeEvent, revisionOf } from "../../../lib/outcomes/event.ts";
import type { RecordedOutcome } from "../../../lib/outcomes/event.ts";

const SOURCE = "urn:payment-worker:prod";

const RECORD: RecordedOutcome = {
  messageId: "order-1001",
  outcome: { result: "succeeded", paymentIntentId: "pi_1" },
  revision: 1,
  completedAt: Date.parse("2026-11-30T06:00:00.123Z"),
  amount: 1250,
  currency: "eur",
};

/** An outcome event, but for its data. */
const eventOf = (messageId: string, type: string) => ({
  specversion: "1.0",
  id: `${messageId}:1`,
  source: "urn:payment-worker:prod",
  type: `payment.${type}`,
  subject: messageId,
  datacontenttype: "application/json",
  revision: 1,
});
const TIME = "2026-11-30T06:00:00.123Z";
const MONEY = { amount: 1250, currency: "eur" };

test("a recorded outcome becomes a CloudEvent with the message id and the revision as its identity", () => {
  expect(outcomeEvent(RECORD, SOURCE)).toStrictEqual({
    ...eventOf("order-1001", "succeeded"),
    time: TIME,
    data: { messageId: "order-1001", result: "succeeded", paymentIntentId: "pi_1", ...MONEY },
  });
});

test("a decline carries its codes", () => {
  const codes = { code: "card_declined", declineCode: "insufficient_funds" };
  const declined = { ...RECORD, outcome: { result: "declined", ...codes } as const };

  expect(outcomeEvent(declined, SOURCE)).toStrictEqual({
    ...eventOf("order-1001", "declined"),
    time: TIME,
    data: { messageId: "order-1001", result: "declined", ...MONEY, ...codes },
  });
});

test("a record that predates revisions is its first one, without what it does not hold", () => {
  const outcome = { result: "processing", paymentIntentId: "pi_7" } as const;

  expect(outcomeEvent({ messageId: "order-7", outcome }, SOURCE)).toStrictEqual({
    ...eventOf("order-7", "processing"),
    data: { messageId: "order-7", ...outcome },
  });
});

test("nothing of the customer or of the payment method is in an event, whatever the record holds", () => {
  const record = {
    ...RECORD,
    customer: "cus_secret",
    paymentMethod: "pm_secret",
    metadata: { note: "private" },
    fingerprint: "f".repeat(64),
    owner: "an-owner",
  };
  const text = JSON.stringify(outcomeEvent(record, SOURCE));
  expect(text).not.toMatch(/secret|private|ffff|an-owner/);
});

test.each([
  [undefined, 0],
  [{}, 0],
  [{ revision: 3 }, 0], // without an outcome there is nothing to publish
  [{ outcome: RECORD.outcome }, 1],
  [{ outcome: RECORD.outcome, revision: 4 }, 4],
])("the revision of %j is %i", (record, revision) => {
  expect(revisionOf(record)).toBe(revision);
});
