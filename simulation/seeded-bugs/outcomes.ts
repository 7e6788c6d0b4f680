// Bugs in what comes after the worker: the outcome publisher and the finalizer of payments.

import type { Edit, SeededBug } from "./load-worker.ts";

const bug = (name: string, lesson: string, ...edits: readonly Edit[]): SeededBug => {
  return { name, lesson, edits, family: "random outcomes" };
};

const edit = (file: string, find: string, replace: string): Edit => ({ file, find, replace });

const EVENT = "outcomes/event.ts";
const PUBLISH = "outcomes/publish.ts";
const PUBLISHER = "lambda/outcome-publisher.ts";
const FINALIZER = "lambda/finalizer-handler.ts";
const FINALIZE = "payments/finalize.ts";
const RECORDED = "aws/recorded-outcomes.ts";

const CHANGED = "if (!after?.outcome || revisionOf(before) === revisionOf(after)) {";

export const OUTCOMES: readonly SeededBug[] = [
  // The publisher
  bug(
    "goes on behind the last change that failed",
    "Lambda continues at the number that it is given: every change in front of it counts as published.",
    edit(PUBLISH, "results.find(", "results.findLast("),
  ),
  bug(
    "answers that every change was published",
    "Lambda sets its checkpoint behind the batch, and nobody tells of the outcome any more.",
    edit(PUBLISHER, "[{ itemIdentifier: failed }]", "[]"),
    edit(PUBLISHER, "failed === results[0]?.sequenceNumber && results.length > 1", "false"),
  ),
  bug(
    "looks at the status of PutEvents alone",
    "PutEvents answers 200 although entries failed: each has its own code.",
    edit(
      "aws/event-bus.ts",
      'EventId ? undefined : (ErrorCode ?? "NoEventId")',
      "void [EventId, ErrorCode]",
    ),
  ),
  bug(
    "takes a call that failed for published",
    "Without an answer nobody knows what is on the bus. Published again, it has the same id.",
    edit(PUBLISH, 'cause instanceof Error ? cause.name : "unknown"', "void cause"),
  ),
  bug(
    "publishes what is not recorded",
    "Others ship the goods, and the charge is still to be made: it may be declined.",
    edit(PUBLISH, CHANGED, "if (!after || after.outcome === before?.outcome && before) {"),
    edit(PUBLISH, '|| typeof after.outcome.result !== "string"', ""),
    edit(
      PUBLISH,
      "outcome: after.outcome }",
      'outcome: after.outcome ?? { result: "succeeded", paymentIntentId: "" } }',
    ),
  ),
  bug(
    "publishes what is inserted only",
    "An outcome is an update of the claim, and a stream calls it MODIFY.",
    edit(
      PUBLISHER,
      "event.Records.map(readChange)",
      'event.Records.filter(({ eventName }) => eventName === "INSERT").map(readChange)',
    ),
  ),
  bug(
    "publishes the first outcome only",
    "A bank debit that was paid or bounced is news that others wait for.",
    edit(PUBLISH, CHANGED, "if (!after?.outcome || before?.outcome) {"),
  ),
  bug(
    "makes a new id each time that it publishes",
    "The same outcome under two ids is two outcomes to whoever deduplicates.",
    edit(EVENT, "id: `${messageId}:${revision}`", "id: `${messageId}:${performance.now()}`"),
  ),
  bug(
    "says when it published instead of when the outcome was recorded",
    "Published again, the event has the same id and another content.",
    edit(EVENT, "new Date(completedAt)", "new Date(performance.now())"),
  ),

  // The finalizer
  bug(
    "takes the outcome from the event's own body",
    "An event tells what was. Of two events of a payment the one that is read may be the older one.",
    edit(
      "payments/stripe-event.ts",
      '{ about: "payment", paymentIntentId: id }',
      '{ about: "payment", paymentIntentId: id, object }',
    ),
    edit(
      FINALIZER,
      "moveForward(event.paymentIntentId, deadline, deps)",
      "moveForward(event.object, deadline, deps)",
    ),
    edit(
      FINALIZER,
      "const retrieved = await payments.retrieve(paymentIntentId, deadline.stripeCallMs());",
      `const { id, status, metadata, amount, currency } = paymentIntentId;
      const result = status === "requires_payment_method" ? "failed" : status;
      const outcome = { result, paymentIntentId: id };
      const state = { paymentIntentId: id, messageId: metadata.message_id, outcome, amount, currency };
      const retrieved = metadata.message_id ? { found: state } : { foreign: true };`,
    ),
    // `result` is declared twice otherwise.
    edit(
      FINALIZER,
      "const result = await finalize(retrieved.found, records, now(), deadline.tableCallMs());\n  return { messageId, ...result };",
      "return { messageId, ...(await finalize(retrieved.found, records, now(), deadline.tableCallMs())) };",
    ),
  ),
  bug(
    "acknowledges an event that comes too early",
    "Stripe's event can be faster than the worker, which records what Stripe answered before. Nobody moves it forward any more.",
    edit(
      FINALIZER,
      'case "in_progress":\n      return { kind: "backoff" };',
      'case "in_progress":\n      return { kind: "acknowledge" };',
    ),
  ),
  bug(
    "acknowledges an event that it could not finalize",
    "The queue is the retry here too.",
    edit(
      FINALIZER,
      'return { kind: "backoff", unavailable: UNAVAILABLE.has(result.error.kind) };',
      'return { kind: "acknowledge" };',
    ),
  ),
  bug(
    "moves a record without a look at its PaymentIntent",
    "Another PaymentIntent with the same message id is a double charge, and not news of this one.",
    edit(
      RECORDED,
      "AND ${SAME_PAYMENT} AND",
      "AND (${SAME_PAYMENT} OR attribute_exists(messageId)) AND",
    ),
  ),
  bug(
    "reports no second PaymentIntent",
    "The customer paid twice, and Stripe's event is the first to know.",
    edit(FINALIZE, "recorded.paymentIntentId !== undefined &&", "false &&"),
  ),
  bug(
    "moves a record whatever its result is",
    "Events repeat and come out of order: the condition has to name what may stand there before.",
    edit(
      RECORDED,
      'outcome.#result IN (${values.map(([name]) => name).join(", ")})`',
      '(attribute_exists(messageId) OR outcome.#result IN (${values.map(([name]) => name).join(", ")}))`',
    ),
  ),
  bug(
    "moves back with Stripe",
    "A customer who tries another debit after a failed one has not paid: others have been told that the payment failed.",
    edit(FINALIZE, "RANK[earlier] < RANK[result]", "RANK[earlier] !== RANK[result]"),
  ),
  bug(
    "takes a failed payment for final",
    "The customer may pay the same PaymentIntent in another way.",
    edit(FINALIZE, "  failed: 2,", "  failed: 3,"),
  ),
  bug(
    "does not raise the revision",
    "Two outcomes under one id: consumers drop the second as a duplicate.",
    edit(RECORDED, '":one": 1,', '":one": 0,'),
  ),
  bug(
    "records an outcome where there is no record",
    "The payment may be another deployment's, and the next delivery finds a record without a claim.",
    edit(
      RECORDED,
      "ConditionExpression: `${COMPLETED} AND",
      "ConditionExpression: `attribute_not_exists(messageId) OR ${COMPLETED} AND",
    ),
  ),
];
