// What a valid message keeps to.

/** Every rule a message can break, and its sentence after the name of the field. */
export const RULES = {
  body_json: "must be one JSON object, with no key given two values",
  body_length: "must be at most 262,144 characters long",
  values: "must hold at most 1,000 names and values",
  nesting: "must not be nested deeper than 64 levels",
  number_length: "must hold no number of more than 100 characters",
  wrapping: "must hold the sender's message within at most three layers of SNS and EventBridge",
  cloudevents_version: 'must be "1.0"',
  cloudevents_data: "must be a JSON object in `data`; `data_base64` is not read",
  schema_version: "must be 1, the BabelQueue envelope this worker reads",
  job: "must name the kind of message, here or in its alias `urn`",
  message_id: "must be the sender's own id: 1 to 255 printable ASCII characters without spaces",
  sender_time: "must be the sender's time, such as 2026-11-29T12:00:00Z",
  sender_time_ahead:
    "is further ahead of this worker's clock than a sender's clock may be: set the sender's clock, then redrive",
  message_too_old:
    "is older than the deduplication window, so it could be a second charge; check at Stripe and send a new message if it was never charged",
  required: "is required",
  unknown_field: "is not a field of a payment, and ignoring it could charge something else",
  amount:
    "must be an integer in Stripe's smallest unit of the currency, from 1 to 999999999999, written in plain digits",
  amount_unit:
    "must be a multiple of 10 in bhd, jod, kwd, omr and tnd, and of 100 in isk and ugx, because Stripe charges nothing smaller there",
  currency: "must be an ISO 4217 code, such as eur",
  customer:
    "must be the customer's id at Stripe, cus_… or your own: at most 255 letters, digits and @:+._-",
  payment_method: "must be the id of a Stripe PaymentMethod (pm_…), Card, Source or BankAccount",
  description: "must be a string of 1 to 1000 characters",
  statement_descriptor_suffix:
    "must be 1 to 22 Latin characters with at least one letter and none of < > \\ ' \" *",
  metadata:
    "must be an object of strings: at most 49 keys of 1 to 40 characters without [ or ], values of 1 to 500 characters",
  metadata_message_id: "is set by the worker, not by the sender",
  card_number: "holds what looks like a card number; send a PaymentMethod id instead",
  card_data: "is card data, which must never be in a queue; send a PaymentMethod id instead",
} as const;

export type Rule = keyof typeof RULES;
