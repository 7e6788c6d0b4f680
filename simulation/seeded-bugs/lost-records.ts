// Bugs that show when a record was lost, rolled back, damaged or moved on, and bugs in what becomes
// of rejections, cancellations and keys of the wrong mode.

import type { SeededBug } from "./load-worker.ts";

const bug = (
  name: string,
  lesson: string,
  file: string,
  find: string,
  replace: string,
): SeededBug => ({ name, lesson, edits: [{ file, find, replace }] });

const PROTOCOL = "payments/protocol.ts";
const RECORD = "payments/record.ts";
const TABLE = "aws/records-table.ts";
const COMPLETE =
  'ConditionExpression: OURS_IN_PROGRESS,\n        UpdateExpression:\n          "SET #status';
const KNOWN_AT = "Math.min(claim.firstClaimedAt, sentAt)";

export const LOST_RECORDS: readonly SeededBug[] = [
  bug(
    "measures a payment's age by its record alone",
    "A table that was restored forgets the first claim: a day-old payment looks new, and Stripe has forgotten the key.",
    PROTOCOL,
    KNOWN_AT,
    "claim.firstClaimedAt",
  ),
  bug(
    "measures a payment's age by the sender's time alone",
    "A repeat may come under a new time: the record knows of the first claim.",
    PROTOCOL,
    KNOWN_AT,
    "sentAt",
  ),
  bug(
    "looks up only as far back as the first claim",
    "After a lost record the first claim is that of the second attempt.",
    PROTOCOL,
    "since: firstKnownAt",
    "since: claim.firstClaimedAt",
  ),
  bug(
    "trusts a sender's clock that is ahead",
    "The PaymentIntent is then older than the message says it is.",
    PROTOCOL,
    "firstKnownAt - timings.maxSenderAheadMs",
    "firstKnownAt",
  ),
  bug(
    "records what it finds under the id, whatever the amount",
    "With the record went the fingerprint: another payment under the id is acknowledged, and was never made.",
    "stripe/charges.ts",
    "return same ? answerOf(found, lastResponse.requestId) : OTHER_PAYMENT;",
    "return answerOf(found, lastResponse.requestId);",
  ),
  bug(
    "completes a record that is complete",
    "A late copy of the request undoes what Stripe's events have moved forward since.",
    TABLE,
    COMPLETE,
    COMPLETE.replace("OURS_IN_PROGRESS", '"#owner = :owner"'),
  ),
  bug(
    "takes a lost lease for its own completion",
    "Nobody has recorded the outcome, and the message is acknowledged.",
    TABLE,
    "return standing?.owner === claim.owner && standing.outcome !== undefined;",
    "return standing !== undefined;",
  ),
  bug(
    "records an outcome without a revision",
    "A consumer of the outcomes can neither order them nor recognize a repeat.",
    TABLE,
    ", revision = :first REMOVE",
    " REMOVE",
  ),
  bug(
    "takes a damaged record over",
    "Without the time of its first claim nobody knows how old the payment is.",
    RECORD,
    "if (attribute !== undefined)",
    "if (false)",
  ),
  bug(
    "asks again for what Stripe rejected",
    "The same request gets the same answer: fourteen requests for each message of a bad key or customer.",
    RECORD,
    ' && lastError?.kind === "stripe_rejected"',
    " && false",
  ),
  bug(
    "never asks again for what Stripe rejected",
    "An operator has fixed the cause and redrives the message, which stays unpaid.",
    RECORD,
    " && ours.receiveCount > 1",
    "",
  ),
  bug(
    "takes a canceled payment for none",
    "It is an outcome: whether to charge again is for the sender to say, under a new id.",
    "stripe/charges.ts",
    "if (found) {",
    'if (found && found.status !== "canceled") {',
  ),
  bug(
    "takes a canceled payment for paid",
    "No money moves any more.",
    "stripe/answers.ts",
    'outcome: { result: "canceled"',
    'outcome: { result: "succeeded"',
  ),
  bug(
    "charges with a key of the wrong mode",
    "A test key charges no one, and a live key in a test stage charges a customer.",
    "stripe/api-key.ts",
    "if (mode && ",
    "if (false && ",
  ),
];
