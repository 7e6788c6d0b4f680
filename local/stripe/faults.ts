// What can be injected into a request to Stripe beside what can happen to any: Stripe's own errors.
import type { ArmedFault, Fault as AnyFault, Faults as AnyFaults, Phase } from "../faults.ts";
import { expiredKey, forbidden, invalidKey, refusedKey } from "./api-keys.ts";
import { passingErrors } from "./errors.ts";
import type { Answer } from "./errors.ts";
import { keyInUse } from "./idempotency.ts";
import type { RequestRecord } from "./ledger.ts";

export type OwnFault =
  /** Answered with this error, not applied and not stored. */
  | { kind: "refuse"; error: PassingError }
  /** Execution fails with a 500 that is stored: no PaymentIntent, and every repeat gets the 500. */
  | { kind: "storedError" }
  /** Carried out, and yet a 500 is answered and stored. */
  | { kind: "storedErrorAfterCharge" };

/**
 * A delayed request is accepted: its key is held meanwhile, and it charges even if the client hangs up.
 *
 * stripe-node repeats a request whose connection was closed once, even with `maxNetworkRetries: 0`:
 * a dropped connection that the caller should notice needs `times: 2`.
 */
export type Fault = AnyFault<RequestRecord, OwnFault>;

type PassingError =
  | keyof typeof passingErrors
  | "idempotency_key_in_use"
  | "api_key_expired"
  | "unauthorized"
  | "forbidden";

export type Faults = AnyFaults<RequestRecord, OwnFault> & {
  /** Every request fails until it is removed: with a 503, or by a connection that is reset. */
  outage: (how: "unavailable" | "unreachable") => ArmedFault;
};

export function withOutage(faults: AnyFaults<RequestRecord, OwnFault>): Faults {
  return {
    ...faults,
    outage: (how) =>
      faults.add(
        { times: Infinity },
        how === "unreachable" ? { kind: "dropBefore" } : { kind: "refuse", error: "unavailable" },
      ),
  };
}

export function phaseOfOwn({ kind }: OwnFault): Phase {
  return kind === "refuse" ? "arriving" : "received";
}

/** The answer of a `refuse` fault to this request. */
export function passingError(error: PassingError, request: RequestRecord): Answer {
  switch (error) {
    case "idempotency_key_in_use":
      return keyInUse(request.idempotencyKey ?? "");
    case "api_key_expired":
      return refusedKey(expiredKey("sk_test_unknown"));
    case "unauthorized":
      return refusedKey(invalidKey("sk_test_unknown"));
    case "forbidden": {
      const access = request.method === "GET" ? "read" : "write";
      return forbidden("rk_test_unknown", "acct_unknown", access);
    }
    case "rate_limit":
    case "lock_timeout":
    case "conflict":
    case "server_error":
    case "unavailable":
      return passingErrors[error];
  }
}
