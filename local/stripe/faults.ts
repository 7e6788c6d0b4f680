import type { ArmedFault, Match } from "../faults.ts";
import { forbidden, invalidKey, refusedKey } from "./api-keys.ts";
import type { Failure } from "./decide.ts";
import { passingErrors } from "./errors.ts";
import type { Answer } from "./errors.ts";
import { keyInUse } from "./idempotency.ts";
import type { RequestRecord } from "./ledger.ts";

/**
 * arriving ─ nothing has looked at the request: a fault here leaves no trace, as if it was never sent
 * received ─ authenticated, its idempotency key held, nothing applied
 * applied  ─ carried out, the answer stored under the key, nothing sent
 */
export type Stage = "arriving" | "received" | "applied";

/**
 * What is done to a request. Durations are real ms: the client's own timers run against them.
 *
 * stripe-node repeats a request whose connection was closed once, even with `maxNetworkRetries: 0`:
 * a dropped connection that the caller should notice needs `times: 2`.
 */
export type Fault =
  /** The connection is cut and nothing is applied. */
  | { kind: "dropBefore" }
  /** Applied, then the connection is cut: the reply is lost. */
  | { kind: "dropAfter" }
  /** Late on the network: Stripe has not seen the request yet, and another with its key may overtake it. */
  | { kind: "delayArrival"; ms: number }
  /** Applied late: the key is held meanwhile, and the charge is made even if the client hangs up. */
  | { kind: "delayBefore"; ms: number }
  /** Applied at once, answered late. */
  | { kind: "delayAfter"; ms: number }
  /** Applied at once; the headers come at once and the body in small pieces over `ms`. */
  | { kind: "slowBody"; ms: number }
  /** Answered with this error, not applied and not stored. */
  | { kind: "refuse"; error: PassingError }
  /** Execution fails with a 500 that is stored: no PaymentIntent, and every repeat gets the 500. */
  | { kind: "storedError" }
  /** Carried out, and yet a 500 is answered and stored. */
  | { kind: "storedErrorAfterCharge" }
  /** Runs at that moment, and the request waits for it. */
  | { kind: "hook"; at: Stage; run: (request: Readonly<RequestRecord>) => void | Promise<void> };

export type PassingError =
  | keyof typeof passingErrors
  | "idempotency_key_in_use"
  | "unauthorized"
  | "forbidden";

type Seen = Pick<RequestRecord, "method" | "path" | "idempotencyKey" | "messageId">;

/** Faults that a test or the demo arms; the worker under test never knows. */
export type Faults = {
  add: (match: Match<Seen>, fault: Fault) => ArmedFault;
  /** Every request fails until it is removed: with a 503, or by a connection that is reset. */
  outage: (how: "unavailable" | "unreachable") => ArmedFault;
  removeAll: () => void;
};

export function createFaults() {
  type Rule = {
    matches: (seen: Seen) => boolean;
    fault: Fault;
    left: number;
    happened: number;
  };
  let rules: Rule[] = [];

  const faults: Faults = {
    add({ where = () => true, times = 1, ...fields }, fault) {
      const wanted = Object.entries(fields) as [keyof Seen, string | undefined][];
      const matches = (seen: Seen) =>
        wanted.every(([name, value]) => seen[name] === value) && where(seen);
      const rule: Rule = { matches, fault, left: times, happened: 0 };
      rules = [...rules, rule];
      return { happened: () => rule.happened, remove: () => void (rule.left = 0) };
    },
    outage: (how) =>
      faults.add(
        { times: Infinity },
        how === "unreachable" ? { kind: "dropBefore" } : { kind: "refuse", error: "unavailable" },
      ),
    removeAll: () => {
      for (const rule of rules) rule.left = 0;
    },
  };

  /**
   * The faults that happen to this request at this stage, in the order they were armed. Lazy, so that
   * one behind a fault that ended the request is neither counted nor spent.
   */
  function* due(stage: Stage, request: RequestRecord, willExecute: boolean): Generator<Fault> {
    rules = rules.filter((rule) => rule.left > 0);
    for (const rule of rules) {
      const { fault } = rule;
      if (rule.left <= 0 || stageOf(fault) !== stage || !rule.matches(request)) continue;
      if (!willExecute && failureOf(fault) !== undefined) continue;
      rule.left -= 1;
      rule.happened += 1;
      request.faults.push(fault.kind);
      yield fault;
    }
  }

  return { faults, due };
}

function stageOf(fault: Fault): Stage {
  switch (fault.kind) {
    case "dropBefore":
    case "delayArrival":
    case "refuse":
      return "arriving";
    case "delayBefore":
    case "storedError":
    case "storedErrorAfterCharge":
      return "received";
    case "dropAfter":
    case "delayAfter":
    case "slowBody":
      return "applied";
    case "hook":
      return fault.at;
  }
}

/** The moment at which a fault makes an execution fail, if it does. */
export function failureOf(fault: Fault): Failure | undefined {
  if (fault.kind === "storedError") return "before";
  return fault.kind === "storedErrorAfterCharge" ? "after" : undefined;
}

/** The answer of a `refuse` fault to this request. */
export function passingError(error: PassingError, request: RequestRecord): Answer {
  switch (error) {
    case "idempotency_key_in_use":
      return keyInUse(request.idempotencyKey ?? "");
    case "unauthorized":
      return refusedKey(invalidKey("sk_test_unknown"));
    case "forbidden":
      return forbidden(
        "rk_test_unknown",
        "acct_unknown",
        request.method === "GET" ? "read" : "write",
      );
    case "rate_limit":
    case "lock_timeout":
    case "conflict":
    case "server_error":
    case "unavailable":
      return passingErrors[error];
  }
}
