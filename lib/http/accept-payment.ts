// The door: POST /payments. The client's key is claimed first and the message is sent second, so a
// crash between the two leaves a record that no client knows of, and the client's retry sends the
// message. A second message is a duplicate, which is what the worker is made for.

import { decodeMessage } from "../message/decode.ts";
import { explainViolation } from "../message/invalid.ts";
import { parseObject } from "../message/json.ts";
import { chargeParams, fingerprint } from "../payments/charge.ts";
import type { IdempotencyRecord } from "../payments/record.ts";
import { readMessageId } from "./idempotency-key.ts";
import { isOpen, paymentStatus } from "./payment-status.ts";
import { json, problem } from "./response.ts";
import type { HttpResponse } from "./response.ts";

export type HttpRequest = {
  /** In lower case; API Gateway joins the values of a repeated one with commas. */
  headers: Readonly<Record<string, string | undefined>>;
  body: string;
  /** The authenticated caller, when keys are scoped to it. */
  caller?: string;
};

export type DoorDeps = {
  /** Puts the record unless one is there; answers with the one that is. */
  claim: (record: IdempotencyRecord) => Promise<IdempotencyRecord | undefined>;
  /** Sends a message to the worker's queue, in the group of its customer. */
  send: (body: string, group: string) => Promise<void>;
  limits: { recordTtlMs: number; maxMessageAgeMs: number; maxSenderAheadMs: number };
  /** Epoch ms. */
  now: () => number;
  newOwner: () => string;
};

// Far above any payment, and far below API Gateway's 10 MB.
const MAX_BODY = 64 * 1_024;

/** Accepts a payment. Answers 503 when nothing was accepted, and throws nothing. */
export async function acceptPayment(request: HttpRequest, deps: DoorDeps): Promise<HttpResponse> {
  const { headers, body, caller } = request;
  const key = readMessageId(headers["idempotency-key"], caller);
  if ("problem" in key) return problem(key.problem, key.detail);
  if (!/^application\/json(?:;|$)/i.test(headers["content-type"]?.trim() ?? "")) {
    return problem("unsupported-media-type");
  }
  if (Buffer.byteLength(body) > MAX_BODY) {
    return problem("body-too-large", `A payment has at most ${MAX_BODY} bytes.`);
  }

  const now = deps.now();
  const stray = strayField(body);
  if (stray !== undefined) {
    return problem("invalid-payment", `${stray} is not a field of a payment at this door.`);
  }
  const decoded = decodeMessage(messageBody(body, key.id, now), now, deps.limits);
  if (decoded.kind === "invalid") {
    return problem("invalid-payment", explainViolation(decoded.violation));
  }
  const { payment } = decoded.message;
  const record: IdempotencyRecord = {
    messageId: key.id,
    status: "IN_PROGRESS",
    owner: deps.newOwner(),
    leaseExpiresAt: 0, // nobody's yet: the worker takes it over
    attempt: 0,
    firstClaimedAt: now,
    fingerprint: fingerprint(chargeParams(decoded.message)),
    amount: payment.amount,
    currency: payment.currency,
    expiresAt: Math.ceil((now + deps.limits.recordTtlMs) / 1_000),
  };

  try {
    const standing = await deps.claim(record);
    const accepted = standing ?? record;
    if (accepted.fingerprint !== record.fingerprint) return problem("key-reused");
    const ours = !standing || standing.owner === record.owner; // its reply was lost
    if (!accepted.outcome) {
      await deps.send(messageBody(body, key.id, accepted.firstClaimedAt), payment.customer);
    }
    return accepted202(accepted, caller, ours);
  } catch (cause) {
    return { ...problem("unavailable", undefined, { "retry-after": "5" }), cause };
  }
}

function accepted202(
  record: IdempotencyRecord,
  caller: string | undefined,
  ours: boolean,
): HttpResponse {
  const id = caller === undefined ? record.messageId : record.messageId.slice(caller.length + 1);
  const status = paymentStatus(id, record);
  return json(202, status, {
    location: `/payments/${encodeURIComponent(id)}`,
    ...(isOpen(status) && { "retry-after": "2" }),
    // After this the key is new again, and a payment under it would be another one.
    "idempotency-key-expires": new Date(record.expiresAt * 1_000).toUTCString(),
    ...(!ours && { "idempotent-replayed": "true" }),
  });
}

// What the door itself sets, and what would make another shape of the message.
const STRAY = ["id", "createdAt", "specversion", "job", "urn", "meta", "detail-type", "Type"];

function strayField(body: string): string | undefined {
  const parsed = parseObject(body);
  return "object" in parsed ? STRAY.find((name) => Object.hasOwn(parsed.object, name)) : undefined; // the decoder reports the error
}

/**
 * The client's JSON as a message. The time is that of the first acceptance: one of the retry would
 * make an old payment look young.
 */
function messageBody(body: string, id: string, acceptedAt: number): string {
  const inner = body.trim().replace(/^\{/, "").trimStart();
  const time = new Date(acceptedAt).toISOString();
  const head = `{"id":${JSON.stringify(id)},"createdAt":"${time}"`;
  return inner.startsWith("}") ? `${head}}` : `${head},${inner}`;
}
