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

test("a recorded outcome becomes a CloudEvent with the message id and the revision as its identity", () => {
  expect(outcomeEvent(RECORD, SOURCE)).toStrictEqual({
    specversion: "1.0",
    id: "order-1001:1",
    source: "urn:payment-worker:prod",
    type: "payment.succeeded",
    subject: "order-1001",
    time: "2026-11-30T06:00:00.123Z",
    datacontenttype: "application/json",
    revision: 1,
    data: {
      messageId: "order-1001",
      result: "succeeded",
      paymentIntentId: "pi_1",
      amount: 1250,
      currency: "eur",
    },
  });
});

test("a decline carries its codes", () => {
  const declined = {
    ...RECORD,
    outcome: { result: "declined", code: "card_declined", declineCode: "insufficient_funds" },
  } as const;
  const { type, data } = outcomeEvent(declined, SOURCE);

  expect({ type, data }).toStrictEqual({
    type: "payment.declined",
    data: {
      messageId: "order-1001",
      result: "declined",
      amount: 1250,
      currency: "eur",
      code: "card_declined",
      declineCode: "insufficient_funds",
    },
  });
});

test("a record that predates revisions is its first one, without what it does not hold", () => {
  const old: RecordedOutcome = {
    messageId: "order-7",
    outcome: { result: "processing", paymentIntentId: "pi_7" },
  };
  expect(outcomeEvent(old, SOURCE)).toStrictEqual({
    specversion: "1.0",
    id: "order-7:1",
    source: "urn:payment-worker:prod",
    type: "payment.processing",
    subject: "order-7",
    datacontenttype: "application/json",
    revision: 1,
    data: { messageId: "order-7", result: "processing", paymentIntentId: "pi_7" },
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
