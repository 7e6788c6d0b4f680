// How the delivery of one of Stripe's events ended.

import type { PaymentNotice } from "../outcomes/notice.ts";
import type { Finalized } from "../payments/finalize.ts";
import type { AttemptError } from "../payments/record.ts";

export type EventResult = { messageId?: string } & (
  | Finalized
  /** A refund or a dispute was reported. */
  | { decision: "reported"; notice: PaymentNotice }
  /** Another integration's PaymentIntent. */
  | { decision: "foreign" }
  /** A type that changes nothing here. */
  | { decision: "ignored" }
  /** Not an event of Stripe's, or one of the other mode. */
  | { decision: "invalid"; reason: "not_an_event" | "mode" }
  | { decision: "transient"; error: AttemptError }
);
