import { forbidden, invalidKey, refusedKey } from "./api-keys.ts";
import type { Failure } from "./decide.ts";
import { type Answer, passingErrors } from "./errors.ts";
import { keyInUse } from "./idempotency.ts";
import type { RequestRecord } from "./ledger.ts";

/**
 * arriving ─ nothing has looked at the request: a fault here leaves no trace, as if it was never sent
 * received ─ authenticated, its idempotency key held, nothing applied
 * applied  ─ carried out, the answer stored under the key, nothing sent
 */
export type Stage = "arriving" | "received" | "applied";

/** Which requests a fault happens to. What is left out matches everything. */
export type Match = {
  method?: string;
  /** Exact, or a pattern. */
  path?: string | RegExp;
  idempotencyKey?: string;
  messageId?: string;
  /** How many requests; 1 when left out, `Infinity` until removed. */
  times?: number;
};

export type FaultHandle = {
  /** How many times it really happened. */
  readonly count: number;
  /** Resolves when it has happened `times` times, at once if it already has. */
  happened(times?: number): Promise<void>;
  remove(): void;
};

export type Effect =
  | { kind: "drop" }
  | { kind: "delay"; ms: number }
  | { kind: "slow-body"; ms: number }
  | { kind: "answer"; answer: (request: RequestRecord) => Answer }
  | { kind: "stored-error"; failure: Failure }
  | { kind: "hook"; run: (request: Readonly<RequestRecord>) => void | Promise<void> };

export type PassingError =
  | keyof typeof passingErrors
  | "idempotency_key_in_use"
  | "unauthorized"
  | "forbidden";

/**
 * Faults that a test or the demo plans. Durations are real ms: the client's own timers run against them.
 *
 * stripe-node repeats a request whose connection was closed once, even with `maxNetworkRetries: 0`:
 * a drop that the caller should notice needs `times: 2`.
 */
export type Faults = {
  /** The connection is destroyed and nothing is applied. */
  dropBefore(match?: Match): FaultHandle;
  /** The request is applied, and the connection destroyed instead of an answer. */
  dropAfter(match?: Match): FaultHandle;
  /** Applied late: the key is held meanwhile, and the charge is made even if the caller hangs up. */
  delayBefore(ms: number, match?: Match): FaultHandle;
  /** Applied at once, answered late. */
  delayReply(ms: number, match?: Match): FaultHandle;
  /** Late on the network: Stripe has not seen the request yet, so another with its key may overtake it. */
  delayArrival(ms: number, match?: Match): FaultHandle;
  /** Headers at once, the body in small pieces over `ms`. */
  slowBody(ms: number, match?: Match): FaultHandle;
  /** Execution fails with a 500 that is stored: no PaymentIntent, and every repeat gets the 500. */
  storedError(match?: Match): FaultHandle;
  /** The charge is made, and then a 500 is answered and stored. */
  storedErrorAfterCharge(match?: Match): FaultHandle;
  /** An answer that leaves nothing behind: not applied, not stored. */
  answer(error: PassingError, match?: Match): FaultHandle;
  /** Calls `run` at that moment, and waits for it. */
  hook(
    at: Stage,
    run: (request: Readonly<RequestRecord>) => void | Promise<void>,
    match?: Match,
  ): FaultHandle;
  /** Every request fails until the handle is removed: a 503, or a connection that is reset. */
  outage(how: "unavailable" | "unreachable"): FaultHandle;
  clear(): void;
};

type Planned = {
  name: string;
  stage: Stage;
  effect: Effect;
  match: Match;
  handle: FaultHandle;
  hit(): void;
};

export function createFaults() {
  let planned: Planned[] = [];

  function plan(name: string, stage: Stage, effect: Effect, match: Match = {}): FaultHandle {
    let count = 0;
    const waiting: { times: number; resolve: () => void }[] = [];
    const handle: FaultHandle = {
      get count() {
        return count;
      },
      happened: (times = 1) =>
        count >= times
          ? Promise.resolve()
          : new Promise((resolve) => waiting.push({ times, resolve })),
      remove: () => void (planned = planned.filter((fault) => fault.handle !== handle)),
    };
    const hit = () => {
      count += 1;
      if (count >= (match.times ?? 1)) handle.remove();
      for (const { times, resolve } of waiting) if (count >= times) resolve();
    };
    planned.push({ name, stage, effect, match, handle, hit });
    return handle;
  }

  const faults: Faults = {
    dropBefore: (match) => plan("drop before", "arriving", { kind: "drop" }, match),
    dropAfter: (match) => plan("drop after", "applied", { kind: "drop" }, match),
    delayBefore: (ms, match) => plan("delay before", "received", { kind: "delay", ms }, match),
    delayReply: (ms, match) => plan("delay reply", "applied", { kind: "delay", ms }, match),
    delayArrival: (ms, match) => plan("delay arrival", "arriving", { kind: "delay", ms }, match),
    slowBody: (ms, match) => plan("slow body", "applied", { kind: "slow-body", ms }, match),
    storedError: (match) =>
      plan("stored 500", "received", { kind: "stored-error", failure: "before" }, match),
    storedErrorAfterCharge: (match) =>
      plan(
        "stored 500 after charge",
        "received",
        { kind: "stored-error", failure: "after" },
        match,
      ),
    answer: (error, match) =>
      plan(error, "arriving", { kind: "answer", answer: passingError(error) }, match),
    hook: (at, run, match) => plan(`hook ${at}`, at, { kind: "hook", run }, match),
    outage: (how) =>
      how === "unreachable"
        ? plan("outage", "arriving", { kind: "drop" }, { times: Infinity })
        : faults.answer("unavailable", { times: Infinity }),
    clear: () => void (planned = []),
  };

  /**
   * The faults that happen to this request at this stage, in the order they were planned. Each counts
   * when it is taken; one that the caller does not come to is left for another request.
   */
  function* due(stage: Stage, request: RequestRecord, willExecute: boolean): Generator<Effect> {
    for (const fault of planned) {
      if (fault.stage !== stage || !matches(fault.match, request)) continue;
      // Used up or removed while an earlier effect was awaited.
      if (!planned.includes(fault)) continue;
      if (fault.effect.kind === "stored-error" && !willExecute) continue;
      request.faults.push(fault.name);
      fault.hit();
      yield fault.effect;
    }
  }

  return { faults, due };
}

function matches(match: Match, request: RequestRecord): boolean {
  return (
    (match.method === undefined || match.method === request.method) &&
    (match.idempotencyKey === undefined || match.idempotencyKey === request.idempotencyKey) &&
    (match.messageId === undefined || match.messageId === request.messageId) &&
    (match.path === undefined ||
      (typeof match.path === "string"
        ? match.path === request.path
        : match.path.test(request.path)))
  );
}

function passingError(error: PassingError): (request: RequestRecord) => Answer {
  switch (error) {
    case "idempotency_key_in_use":
      return (request) => keyInUse(request.idempotencyKey ?? "");
    case "unauthorized":
      return () => refusedKey(invalidKey("sk_test_unknown"));
    case "forbidden":
      return (request) =>
        forbidden("rk_test_unknown", "acct_unknown", request.method === "GET" ? "read" : "write");
    case "rate_limit":
    case "lock_timeout":
    case "conflict":
    case "server_error":
    case "unavailable":
      return () => passingErrors[error];
  }
}
