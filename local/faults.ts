/**
 * Faults that a local server plays on the requests it sees: lost requests, lost replies, delays,
 * refusals, and hooks that run at an exact moment. A test or the demo arms them; the worker under
 * test never knows.
 */

/** What is done to a request. `dropBefore`, `delayBefore`, `refuse` and a hook at `received` act before
 * the server applies it, the others between applying it and answering. */
export type Fault<Seen> =
  /** The connection is cut and nothing is applied. */
  | { kind: "dropBefore" }
  /** Applied, then the connection is cut: the reply is lost. */
  | { kind: "dropAfter" }
  /** Applied late, even when the client has given up by then. */
  | { kind: "delayBefore"; ms: number }
  /** Applied at once, answered late. */
  | { kind: "delayAfter"; ms: number }
  /** Applied at once; the headers come at once and the end of the body `ms` later. */
  | { kind: "slowBody"; ms: number }
  /** Answered with this error and not applied. */
  | { kind: "refuse"; status: number; code: string; message: string }
  /** Runs at that moment, and the request waits for it. */
  | { kind: "hook"; at: "received" | "applied"; run: (seen: Seen) => void | Promise<void> };

/** Which requests a fault applies to: those with every field that is given here, and `where`. */
export type Match<Seen> = Partial<Seen> & {
  where?: (seen: Seen) => boolean;
  /** How many requests it applies to before it is spent. Once when absent; `Infinity` until removed. */
  times?: number;
};

export type ArmedFault = {
  /** How often it really happened. */
  happened: () => number;
  remove: () => void;
};

export type Faults<Seen> = {
  add: (match: Match<Seen>, fault: Fault<Seen>) => ArmedFault;
  removeAll: () => void;
};

type Phase = "before" | "after";

const BEFORE: ReadonlySet<string> = new Set(["dropBefore", "delayBefore", "refuse"]);

function phaseOf<Seen>(fault: Fault<Seen>): Phase {
  if (fault.kind === "hook") return fault.at === "received" ? "before" : "after";
  return BEFORE.has(fault.kind) ? "before" : "after";
}

/** The faults of one server: `armed` is for whoever arms them, `take` for the server itself. */
export function createFaults<Seen extends object>(): {
  armed: Faults<Seen>;
  /** The faults that hit this request in this phase, in the order they were armed; each is counted. */
  take: (phase: Phase, seen: Seen) => Generator<Fault<Seen>>;
} {
  type Rule = {
    matches: (seen: Seen) => boolean;
    fault: Fault<Seen>;
    left: number;
    happened: number;
  };
  let rules: Rule[] = [];

  // Lazy, so that a fault behind one that ended the exchange is neither counted nor spent.
  function* take(phase: Phase, seen: Seen): Generator<Fault<Seen>> {
    for (const rule of rules) {
      if (rule.left <= 0 || phaseOf(rule.fault) !== phase) continue;
      if (!rule.matches(seen)) continue;
      rule.left -= 1;
      rule.happened += 1;
      yield rule.fault;
    }
  }

  return {
    armed: {
      add({ where = () => true, times = 1, ...fields }, fault) {
        const wanted = Object.entries(fields);
        const matches = (seen: Seen) =>
          wanted.every(([name, value]) => seen[name as keyof Seen] === value) && where(seen);
        const rule: Rule = { matches, fault, left: times, happened: 0 };
        rules = [...rules, rule];
        return {
          happened: () => rule.happened,
          remove: () => {
            rule.left = 0;
          },
        };
      },
      removeAll() {
        rules = [];
      },
    },
    take,
  };
}
