// Faults that a local server plays on the requests it sees: lost requests, lost replies, delays, errors,
// and hooks that run at an exact moment. A test or the demo arms them; the function under test never
// knows.

/**
 * arriving ─ nothing has looked at the request: a fault here leaves no trace, as if it was never sent
 * received ─ accepted, and carried out whatever becomes of its sender; nothing is applied
 * applied  ─ carried out, nothing is sent
 */
export type Phase = "arriving" | "received" | "applied";

/** What any server can do to a request. Durations are real ms: the client's timers run against them. */
export type CommonFault<Seen> =
  /** The connection is cut and nothing is applied. */
  | { kind: "dropBefore" }
  /** Applied, then the connection is cut: the reply is lost. */
  | { kind: "dropAfter" }
  /** Late on the network: the server has not seen the request yet, and another may overtake it. */
  | { kind: "delayArrival"; ms: number }
  /** Applied late, even when the client has given up by then. */
  | { kind: "delayBefore"; ms: number }
  /** Applied at once, answered late. */
  | { kind: "delayAfter"; ms: number }
  /** Applied at once; the headers come at once and the body in small pieces over `ms`. */
  | { kind: "slowBody"; ms: number }
  /** Runs at that moment, and the request waits for it. */
  | { kind: "hook"; at: Phase; run: (seen: Seen) => void | Promise<void> };

/** With what only this server can do. */
export type Fault<Seen, Own = never> = CommonFault<Seen> | Own;

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

export type Faults<Seen, Own = never> = {
  add: (match: Match<Seen>, fault: Fault<Seen, Own>) => ArmedFault;
  removeAll: () => void;
};

/** One that happens now. */
export type Due<Seen, Own> = { kind: string; common?: CommonFault<Seen>; own?: Own };

/**
 * The faults of one server: `armed` is for the test, `due` for the server itself.
 * @param phaseOfOwn when a fault that only this server has happens
 */
export function createFaults<Seen extends object, Own extends { kind: string } = never>(
  phaseOfOwn: (fault: Own) => Phase,
): {
  armed: Faults<Seen, Own>;
  /** The faults that happen to this request in this phase, in the order they were armed; each is counted.
   * `takes` says whether one of the server's own can happen to it. */
  due: (phase: Phase, seen: Seen, takes: (fault: Own) => boolean) => Generator<Due<Seen, Own>>;
} {
  type Rule = Due<Seen, Own> & {
    matches: (seen: Seen) => boolean;
    phase: Phase;
    left: number;
    happened: number;
  };
  let rules: Rule[] = [];

  return {
    armed: {
      add({ where = () => true, times = 1, ...fields }, fault) {
        const wanted = Object.entries(fields);
        const matches = (seen: Seen) =>
          wanted.every(([name, value]) => seen[name as keyof Seen] === value) && where(seen);
        const rule: Rule = {
          ...(isCommon(fault)
            ? { kind: fault.kind, common: fault, phase: phaseOf(fault) }
            : { kind: fault.kind, own: fault, phase: phaseOfOwn(fault) }),
          matches,
          left: times,
          happened: 0,
        };
        rules = [...rules, rule];
        return { happened: () => rule.happened, remove: () => void (rule.left = 0) };
      },
      removeAll() {
        for (const rule of rules) rule.left = 0;
      },
    },
    // Lazy, so that a fault behind one that ended the exchange is neither counted nor spent.
    *due(phase, seen, takes) {
      rules = rules.filter((rule) => rule.left > 0);
      for (const rule of rules) {
        if (rule.left <= 0 || rule.phase !== phase || !rule.matches(seen)) continue;
        if (rule.own && !takes(rule.own)) continue;
        rule.left -= 1;
        rule.happened += 1;
        yield rule;
      }
    },
  };
}

/** When each happens; a hook says so itself. */
const PHASES: Readonly<Record<Exclude<CommonFault<unknown>["kind"], "hook">, Phase>> = {
  dropBefore: "arriving",
  delayArrival: "arriving",
  delayBefore: "received",
  dropAfter: "applied",
  delayAfter: "applied",
  slowBody: "applied",
};

function isCommon<Seen, Own extends { kind: string }>(
  fault: Fault<Seen, Own>,
): fault is CommonFault<Seen> {
  return fault.kind === "hook" || fault.kind in PHASES;
}

function phaseOf<Seen>(fault: CommonFault<Seen>): Phase {
  return fault.kind === "hook" ? fault.at : PHASES[fault.kind];
}
