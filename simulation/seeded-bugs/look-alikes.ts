// Bugs that take one payment for another that resembles it: they show only where the world holds
// such payments.

import type { SeededBug } from "./load-worker.ts";

const MATCHES = 'intent.metadata["message_id"] === messageId';

const lookup = (name: string, lesson: string, replace: string, find = MATCHES): SeededBug => ({
  name,
  lesson,
  edits: [{ file: "stripe/charges.ts", find, replace }],
});

const LOOKUPS: readonly SeededBug[] = [
  lookup(
    "looks an id up by how it begins",
    "pay-100 begins like pay-1, and is another payment.",
    'intent.metadata["message_id"]?.startsWith(messageId)',
  ),
  lookup(
    "looks an id up by what it contains",
    "xpay-1 contains pay-1, and is another payment.",
    'intent.metadata["message_id"]?.includes(messageId)',
  ),
  lookup(
    "looks an id up whatever its case",
    "Ids are opaque: Pay-1 and pay-1 are two payments.",
    'intent.metadata["message_id"]?.toLowerCase() === messageId.toLowerCase()',
  ),
  lookup(
    "takes any PaymentIntent of the customer that has a message id",
    "A customer pays more than once.",
    'intent.metadata["message_id"] !== undefined',
  ),
  lookup(
    "takes a PaymentIntent without a message id for its own",
    "The account has other integrations, which set no message id.",
    '(intent.metadata["message_id"] ?? messageId) === messageId',
  ),
  lookup(
    "reads one page of the customer's PaymentIntents",
    "Of a customer with many payments the one that is looked for is on a later page.",
    'return { kind: "none" };',
    'if (!has_more || !after) return { kind: "none" };',
  ),
  lookup(
    "charges when a lookup finds a status it has no plan for",
    "Whatever its status, the PaymentIntent exists: another one could be paid as well.",
    'if (found && !["requires_capture", "requires_confirmation"].includes(found.status)) {',
    "if (found) {",
  ),
];

const money = (name: string, lesson: string, find: string, replace: string): SeededBug => ({
  name,
  lesson,
  edits: [{ file: "payments/charge.ts", find, replace }],
});

const withoutFingerprint = (what: string, field: string, empty: string): SeededBug =>
  money(
    `leaves the ${what} out of the fingerprint`,
    `Another ${what} under a known id is another payment, and not to be acknowledged as this one.`,
    "fingerprint: fingerprint(params)",
    `fingerprint: fingerprint({ ...params, ${field}: ${empty} })`,
  );

const MONEY: readonly SeededBug[] = [
  withoutFingerprint("currency", "currency", '""'),
  withoutFingerprint("customer", "customer", '""'),
  withoutFingerprint("payment method", "payment_method", '""'),
  withoutFingerprint("description", "description", '""'),
  withoutFingerprint("metadata", "metadata", "{}"),
  money(
    "drops the sender's metadata",
    "What the sender wrote is part of the payment: others find it by that.",
    "metadata: { ...metadata, message_id: id }",
    "metadata: { message_id: id }",
  ),
  money(
    "charges every payment in one currency",
    "500 of another currency is another amount.",
    "    currency,\n    customer,",
    '    currency: "eur",\n    customer,',
  ),
  money(
    "asks the customer to be there",
    "Nobody is: the bank declines what it would have let pass off session.",
    "    off_session: true,",
    "",
  ),
];

const IDS: readonly SeededBug[] = [
  {
    name: "writes the idempotency key in lower case",
    lesson: "PAY-1 then meets the key of pay-1, and is never paid.",
    edits: [
      {
        file: "payments/protocol.ts",
        find: "idempotencyKey: claim.messageId",
        replace: "idempotencyKey: claim.messageId.toLowerCase()",
      },
    ],
  },
  {
    name: "shortens the idempotency key",
    lesson: "Long ids that differ at their end then have one key.",
    edits: [
      {
        file: "payments/protocol.ts",
        find: "idempotencyKey: claim.messageId",
        replace: "idempotencyKey: claim.messageId.slice(0, 5)",
      },
    ],
  },
  {
    name: "keeps its record under the id in lower case",
    lesson: "The record of pay-1 then answers for PAY-1, which is never paid.",
    edits: [
      {
        file: "payments/charge.ts",
        find: "messageId: message.id,",
        replace: "messageId: message.id.toLowerCase(),",
      },
    ],
  },
];

export const LOOK_ALIKES: readonly SeededBug[] = [...LOOKUPS, ...MONEY, ...IDS];
