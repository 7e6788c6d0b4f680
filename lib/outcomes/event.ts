// The outcome event: what other services learn about a payment. It carries the whole state, and the
// same record makes the same event whenever it is published.

import type { Outcome } from "../payments/record.ts";

/** What of a record an outcome event is made from. Missing attributes: the record predates them. */
export type RecordedOutcome = {
  messageId: string;
  outcome: Outcome;
  /** 1 when the outcome was recorded, one more for each move forward. */
  revision?: number;
  /** When this revision was recorded, epoch ms. */
  completedAt?: number;
  amount?: number;
  currency?: string;
};

/**
 * A CloudEvent 1.0 in JSON. Consumers deduplicate on `source` and `id`, and keep the highest
 * `revision` per `subject`.
 * https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md
 */
export type OutcomeEvent = {
  specversion: "1.0";
  id: string;
  source: string;
  type: string;
  subject: string;
  time?: string;
  datacontenttype: "application/json";
  revision: number;
  data: {
    messageId: string;
    result: Outcome["result"];
    paymentIntentId?: string;
    /** In Stripe's smallest unit of the currency. */
    amount?: number;
    currency?: string;
    code?: string;
    declineCode?: string;
  };
};

/** The revision of a record: 0 without an outcome, 1 for an outcome that predates revisions. */
export function revisionOf(record: { outcome?: Outcome; revision?: number } | undefined): number {
  return record?.outcome ? (record.revision ?? 1) : 0;
}

/** `source` names the deployment, such as `urn:payment-worker:prod`. */
export function outcomeEvent(record: RecordedOutcome, source: string): OutcomeEvent {
  const { messageId, outcome, completedAt, amount, currency } = record;
  const revision = revisionOf(record);
  return {
    specversion: "1.0",
    id: `${messageId}:${revision}`,
    source,
    type: `payment.${outcome.result}`,
    subject: messageId,
    // CloudEvents makes `time` optional: an invented one would differ from publish to publish.
    ...(completedAt !== undefined && { time: new Date(completedAt).toISOString() }),
    datacontenttype: "application/json",
    revision,
    data: {
      messageId,
      result: outcome.result,
      ...(outcome.paymentIntentId !== undefined && { paymentIntentId: outcome.paymentIntentId }),
      ...(amount !== undefined && { amount }),
      ...(currency !== undefined && { currency }),
      ...("code" in outcome && { code: outcome.code }),
      ...("declineCode" in outcome && { declineCode: outcome.declineCode }),
    },
  };
}
