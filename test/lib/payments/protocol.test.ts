import { expect, test } from "vitest";

import { chargeRequest } from "../../../lib/payments/charge.ts";
import { TableError } from "../../../lib/payments/claim.ts";
import type { Records } from "../../../lib/payments/claim.ts";
import { describeError, processMessage } from "../../../lib/payments/protocol.ts";
import type { ChargeAnswer, Charges } from "../../../lib/payments/protocol.ts";
import type { AttemptError, IdempotencyRecord } from "../../../lib/payments/record.ts";
import { createDeadline } from "../../../lib/timing/deadline.ts";
import { claimed } from "../../support/record.ts";
import { WORKER_TIMINGS } from "../../support/timings.ts";

const NOW = 1_795_953_600_000; // 2026-11-29T12:00:00Z
const HOUR = 3_600_000;

const request = chargeRequest({
  id: "order-1",
  sentAt: NOW,
  payment: { amount: 1200, currency: "eur", customer: "cus_ada", paymentMethod: "pm_card" },
});
const succeeded = {
  kind: "outcome",
  outcome: { result: "succeeded", paymentIntentId: "pi_1" },
  requestId: "req_1",
} satisfies ChargeAnswer;
const failed = (error: AttemptError): ChargeAnswer => ({ kind: "error", error });

type Script = {
  /** What is left of the invocation when it begins, in ms. */
  remainingMs?: number;
  /** How long each call takes, in ms. */
  takes?: { claim?: number; find?: number; create?: number };
  /** An expired claim of this age, in ms. */
  claimedAgoMs?: number;
  /** The sender's own time, so many ms before. */
  sentAgoMs?: number;
  receiveCount?: number;
  claim?: () => IdempotencyRecord | undefined;
  takeOver?: () => IdempotencyRecord;
  create?: () => ChargeAnswer;
  find?: () => ChargeAnswer | { kind: "none" };
  complete?: () => boolean;
  release?: () => void;
};

/** Delivers the message once to a worker whose table and Stripe follow a script. */
async function deliver(script: Script) {
  const { remainingMs = 60_000, takes = {}, claimedAgoMs, sentAgoMs = 0 } = script;
  const { receiveCount = 2 } = script;
  let now = NOW;
  const asked: { call: string; timeoutMs: number; with?: unknown }[] = [];
  const expired = (record: IdempotencyRecord): IdempotencyRecord | undefined =>
    claimedAgoMs === undefined
      ? undefined
      : { ...record, owner: "gone", leaseExpiresAt: 0, firstClaimedAt: NOW - claimedAgoMs };
  const records: Records = {
    async claim(record, timeoutMs) {
      asked.push({ call: "claim", timeoutMs, with: record });
      now += takes.claim ?? 0;
      return script.claim ? script.claim() : expired(record);
    },
    async takeOver(seen, claim, timeoutMs) {
      asked.push({ call: "takeover", timeoutMs, with: { seen, claim } });
      return script.takeOver?.();
    },
    async complete(_claim, outcome, timeoutMs) {
      asked.push({ call: "complete", timeoutMs, with: outcome });
      return script.complete ? script.complete() : true;
    },
    async release(_claim, error, timeoutMs) {
      asked.push({ call: "release", timeoutMs, with: error });
      script.release?.();
    },
  };
  const charges: Charges = {
    async create(_params, { idempotencyKey, timeoutMs }) {
      asked.push({ call: "create", timeoutMs, with: idempotencyKey });
      now += takes.create ?? 0;
      return script.create ? script.create() : succeeded;
    },
    async find(query, timeoutMs) {
      asked.push({ call: "find", timeoutMs, with: query });
      now += takes.find ?? 0;
      return script.find ? script.find() : { kind: "none" };
    },
  };
  const deps = {
    records,
    charges,
    timings: WORKER_TIMINGS,
    now: () => now,
    newOwner: () => "owner-1",
  };
  const deadline = createDeadline(WORKER_TIMINGS, () => NOW + remainingMs - now);
  const message = { ...request, sentAt: NOW - sentAgoMs };
  const result = await processMessage(message, receiveCount, deps, deadline);
  return { result, asked, calls: asked.map(({ call }) => call) };
}

const standing = (changes: object) =>
  claimed({
    owner: "gone",
    firstClaimedAt: NOW - HOUR,
    fingerprint: request.fingerprint,
    ...changes,
  });

test("a claim lasts for the rest of the invocation and the difference of clocks; a charge ends with its outcome", async () => {
  const { result, asked, calls } = await deliver({});

  expect(asked[0]).toEqual({
    call: "claim",
    timeoutMs: 3_000,
    with: {
      messageId: "order-1",
      status: "IN_PROGRESS",
      owner: "owner-1",
      fingerprint: request.fingerprint,
      amount: 1200,
      currency: "eur",
      leaseExpiresAt: 1_795_953_665_000, // 60 s and 5 s later
      attempt: 1,
      firstClaimedAt: 1_795_953_600_000,
      expiresAt: 1_798_977_600, // 35 days later, in seconds
    },
  });
  const outcome = { result: "succeeded", paymentIntentId: "pi_1" };
  const completion = { outcome, completedAt: 1_795_953_600_000 };
  expect(asked[2]).toEqual({ call: "complete", timeoutMs: 3_000, with: completion });
  expect(result).toEqual({
    decision: "completed",
    outcome,
    stripeRequestId: "req_1",
    attempt: 1,
    takeover: false,
  });
  expect(calls).toEqual(["claim", "create", "complete"]);
});

test("a put that failed against itself is a claim, and no takeover", async () => {
  const claim = () => standing({ owner: "owner-1", attempt: 3 });
  const { result, calls } = await deliver({ claim });

  expect(result).toMatchObject({ decision: "completed", takeover: false, attempt: 1 });
  expect(calls).toEqual(["claim", "create", "complete"]);
});

test("a takeover names what was seen, counts the attempt, and keeps the first claim's time", async () => {
  const seen = standing({ attempt: 3 });
  const { result, asked, calls } = await deliver({ claim: () => seen });

  const claim = {
    messageId: "order-1",
    owner: "owner-1",
    leaseExpiresAt: 1_795_953_665_000,
    attempt: 4,
    firstClaimedAt: 1_795_950_000_000, // an hour before
  };
  expect(asked[1]).toEqual({ call: "takeover", timeoutMs: 3_000, with: { seen, claim } });
  expect(result).toMatchObject({ decision: "completed", takeover: true, attempt: 4 });
  expect(calls).toEqual(["claim", "takeover", "create", "complete"]);
});

const PAID = { result: "succeeded", paymentIntentId: "pi_1" } as const;

test.each<[string, Partial<IdempotencyRecord>, object]>([
  [
    "against itself is a takeover",
    { owner: "owner-1" },
    { decision: "completed", takeover: true, attempt: 2 },
  ],
  [
    "because it came second finds the claim in progress",
    { owner: "owner-3", leaseExpiresAt: NOW + 65_000 },
    { decision: "in_progress", leaseExpiresAt: 1_795_953_665_000 },
  ],
  [
    "because the claim was taken and released again comes back at once",
    { owner: "owner-3" },
    { decision: "in_progress", leaseExpiresAt: 1_795_953_600_000 },
  ],
  [
    "because there is an outcome finds a duplicate",
    { owner: "owner-3", status: "COMPLETED", outcome: PAID },
    { decision: "duplicate", outcome: { result: "succeeded", paymentIntentId: "pi_1" } },
  ],
])("a takeover that failed %s", async (_, changes, expected) => {
  const { result } = await deliver({
    claim: () => standing({}),
    takeOver: () => standing(changes),
  });

  expect(result).toMatchObject(expected);
});

test("a table's error says what DynamoDB said, and keeps the cause", () => {
  const cause = new Error("slow down");

  const error = new TableError("ThrottlingException", cause);

  expect(error).toMatchObject({ name: "TableError", code: "ThrottlingException", cause });
  expect(error.message).toBe("DynamoDB did not answer: ThrottlingException");
});

test("a delivery begins only when claim, charge and complete fit before the reserve", async () => {
  const justFits = await deliver({ remainingMs: 31_000 }); // 3 + 20 + 3 + 5 s
  const tooLate = await deliver({ remainingMs: 30_999 });

  expect(justFits.result.decision).toBe("completed");
  expect(tooLate).toMatchObject({ result: { decision: "not_started" }, calls: [] });
});

test.each([
  ["its full time", {}, 20_000],
  // 20 - 3 - 5 s
  [
    "no more than leaves room to complete",
    { remainingMs: 31_000, takes: { claim: 11_000 } },
    12_000,
  ],
])("Stripe gets %s before the reserve", async (_, script, timeoutMs) => {
  const { asked } = await deliver(script);

  expect(asked[1]).toEqual({ call: "create", timeoutMs, with: "order-1" });
});

test("without time for Stripe the claim is released, and the result says why", async () => {
  const inTime = await deliver({ takes: { claim: 51_999 } }); // of 60 s
  const tooLate = await deliver({ takes: { claim: 52_000 } });
  const { asked } = await deliver({ takes: { claim: 55_000 } });

  expect(inTime.calls).toEqual(["claim", "create", "complete"]);
  expect(tooLate.calls).toEqual(["claim", "release"]);
  expect(tooLate.result).toMatchObject({ decision: "transient", error: { kind: "deadline" } });
  expect(asked[1]).toEqual({ call: "release", timeoutMs: 1, with: { kind: "deadline" } });
});

test("from 23 hours after the first claim on Stripe is asked before it is charged", async () => {
  const before = await deliver({ claimedAgoMs: 23 * HOUR - 1 });
  const after = await deliver({ claimedAgoMs: 23 * HOUR });

  expect(before.calls).toEqual(["claim", "takeover", "create", "complete"]);
  expect(after.calls).toEqual(["claim", "takeover", "find", "create", "complete"]);
  expect(after.result).toMatchObject({ lookedUp: true, takeover: true, attempt: 2 });
  expect(after.asked[2]?.with).toEqual({
    messageId: "order-1",
    customer: "cus_ada",
    amount: 1200,
    currency: "eur",
    since: 1_795_870_200_000, // 23 hours and 10 minutes before
  });
});

test.each([
  ["a sender's time", { sentAgoMs: 23 * HOUR, claimedAgoMs: HOUR }, 23 * HOUR],
  ["a sender's time, whose record was lost", { sentAgoMs: 23 * HOUR }, 23 * HOUR],
  ["a first claim, of a sender ahead", { sentAgoMs: -HOUR, claimedAgoMs: 24 * HOUR }, 24 * HOUR],
])("from 23 hours after %s Stripe is asked, back to then", async (_, script, agoMs) => {
  const { asked } = await deliver(script);

  const find = asked.find(({ call }) => call === "find");
  expect(find?.with).toMatchObject({ since: NOW - agoMs - 600_000 });
});

test("a first delivery younger than 23 hours asks Stripe once", async () => {
  expect((await deliver({ sentAgoMs: 23 * HOUR - 1 })).calls).toEqual([
    "claim",
    "create",
    "complete",
  ]);
});

test.each<[string, Script, object, string[]]>([
  [
    "that finds the charge is recorded",
    { find: () => ({ ...succeeded, requestId: "req_list" }) },
    { decision: "completed", stripeRequestId: "req_list" },
    ["claim", "takeover", "find", "complete"],
  ],
  ...(["stripe_unavailable", "stripe_lookup", "unexpected"] as const).map(
    (kind): [string, Script, object, string[]] => [
      `that fails with ${kind} leaves the result unknown`,
      { find: () => failed({ kind, code: "some_code" }) },
      { decision: "transient", error: { kind } },
      ["claim", "takeover", "find", "release"],
    ],
  ),
  [
    "for which there is no time is not made",
    { takes: { claim: 52_000 } },
    { decision: "transient", error: { kind: "deadline" } },
    ["claim", "takeover", "release"],
  ],
  [
    "after which there is no time comes back",
    { takes: { find: 52_000 } },
    { decision: "transient", error: { kind: "deadline" } },
    ["claim", "takeover", "find", "release"],
  ],
])("a lookup %s, and nothing is charged", async (_, script, expected, asked) => {
  const { result, calls } = await deliver({ claimedAgoMs: 25 * HOUR, ...script });

  expect(result).toMatchObject(expected);
  expect(calls).toEqual(asked);
});

test.each([
  ["stripe_rejected", "rejected"],
  ["stripe_conflict", "conflict"],
  ["stripe_key_in_use", "transient"],
  ["stripe_configuration", "transient"],
] as const)("%s ends as %s, with Stripe's request, its claim released", async (kind, decision) => {
  const error: AttemptError = { kind, code: "some_code", requestId: "req_9" };

  const { result, asked } = await deliver({ create: () => failed(error) });

  expect(result).toMatchObject({ decision, error, stripeRequestId: "req_9" });
  expect(asked.at(-1)).toMatchObject({ call: "release", with: error });
});

test.each<ChargeAnswer>([
  { kind: "outcome", outcome: succeeded.outcome },
  failed({ kind: "stripe_unavailable" }),
])("an answer without a request id leaves it out of the result: %j", async (answer) => {
  const { result } = await deliver({ create: () => answer });

  expect(result).not.toHaveProperty("stripeRequestId");
});

test("a rejection is the result of a later receive, and Stripe is asked again by the first one", async () => {
  const error = { kind: "stripe_rejected", code: "resource_missing", requestId: "req_9" } as const;
  const claim = () => standing({ lastError: error });

  const later = await deliver({ claim });
  const redriven = await deliver({ claim, receiveCount: 1 });

  expect(later.result).toEqual({ decision: "rejected", error, stripeRequestId: "req_9" });
  expect(later.calls).toEqual(["claim"]);
  expect(redriven.result).toMatchObject({ decision: "completed", takeover: true });
});

test.each<[string, object, object]>([
  [
    "a damaged record is transient, by the name of its attribute",
    { leaseExpiresAt: undefined },
    { decision: "transient", error: { kind: "record_damaged", code: "leaseExpiresAt" } },
  ],
  [
    "another payment under the id is a conflict",
    { fingerprint: "another" },
    { decision: "conflict" },
  ],
])("%s, and nothing is charged", async (_, changes, expected) => {
  const { result, calls } = await deliver({ claim: () => standing(changes) });

  expect(result).toEqual(expected);
  expect(calls).toEqual(["claim"]);
});

const throwing = (cause: Error) => () => {
  throw cause;
};
const SILENT = throwing(new TableError("TimeoutError", undefined));

test.each<[string, Script, object, string[]]>([
  [
    "what nobody planned of Stripe is transient: whether it charged is unknown",
    { create: throwing(new TypeError("value is not a function")) },
    { kind: "unexpected", code: "TypeError" },
    ["claim", "create", "release"],
  ],
  [
    "a table that does not answer the claim leaves nothing to release",
    { claim: SILENT },
    { kind: "table_unavailable", code: "TimeoutError" },
    ["claim"],
  ],
  [
    "a table that does not answer complete or release leaves the lease to expire",
    { complete: SILENT, release: SILENT },
    { kind: "table_unavailable", code: "TimeoutError" },
    ["claim", "create", "complete", "release"],
  ],
])("%s", async (_, script, error, expected) => {
  const { result, calls } = await deliver(script);

  expect(result).toMatchObject({ decision: "transient", error });
  expect(calls).toEqual(expected);
});

test("a lost lease is no outcome", async () => {
  const { result } = await deliver({ complete: () => false });

  expect(result).toMatchObject({ decision: "lease_lost" });
  expect(result).not.toHaveProperty("outcome");
});

test.each<[string, unknown, stack: string | undefined, object]>([
  [
    "by its name and place, never by its text",
    new RangeError("card 4242 4242 4242 4242"),
    "RangeError: card 4242\n    at read (lib/some.ts:3:7)\n    at next (x.ts:1:1)",
    { code: "RangeError", where: "read (lib/some.ts:3:7)" },
  ],
  [
    "not by a text that looks like a place",
    new Error("x"),
    "Error: looked at 4242",
    { code: "Error" },
  ],
  ["by its name alone without a stack", new Error("x"), undefined, { code: "Error" }],
  ["by its type when it is a string", "4242", undefined, { code: "string" }],
  ["by its type when it is nothing", undefined, undefined, { code: "undefined" }],
])("an unexpected error is described %s", (_, cause, stack, expected) => {
  if (cause instanceof Error) Object.assign(cause, { stack });

  expect(describeError(cause)).toStrictEqual({ kind: "unexpected", ...expected });
});
