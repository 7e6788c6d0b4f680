// What a message's body is about, for those who follow a stack or a log.
import type { Sent } from "../chaos/harness/verdict.ts";
import { decodeMessage } from "../lib/message/decode.ts";
import { DEFAULT_TIMINGS } from "../lib/timing/payments.ts";

/** A body that is no payment has no amount, and one without an id is its own. */
export function describeBody(body: string): Sent {
  const decoded = decodeMessage(body, Date.now(), DEFAULT_TIMINGS);
  if (decoded.kind === "invalid") return { id: decoded.messageId ?? body, body, amount: NaN };
  const { id, payment } = decoded.message;
  return { id, body, amount: payment.amount };
}

/** The id of a message, for a person. */
export function idIn(body: string): string | undefined {
  const { id } = describeBody(body);
  return id === body ? undefined : id;
}
