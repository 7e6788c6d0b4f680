// What the schedules went through: every fault at every request, every branch of the protocol.

import { DELIVERED_TWICE, FAULTS } from "./faults.ts";

const REQUESTS = {
  table: ["put", "take over", "complete", "release"],
  stripe: ["charge", "look up"],
  queue: ["set visibility"],
  poller: ["acknowledge", "return"],
} as const;

/** Every fault at every request that it can strike. */
const STRIKES: readonly string[] = [
  ...FAULTS.flatMap(({ name, services, only }) =>
    services
      .flatMap((service): readonly string[] => REQUESTS[service])
      .filter((request) => only === undefined || only === request)
      .map((request) => `${name} (${request})`),
  ),
  DELIVERED_TWICE,
];

/** How a delivery can end. Stripe's own conflict is not here: the fingerprint keeps it away. */
const ENDINGS = [
  "charged: succeeded",
  "charged: processing",
  "charged: requires_action",
  "charged: declined",
  "duplicate: succeeded",
  "duplicate: processing",
  "duplicate: requires_action",
  "duplicate: declined",
  "held",
  "conflict",
  "lease_lost",
  "not_started",
  "rejected: stripe_rejected",
  "refused: amount",
  "refused: message_too_old",
  "transient: table_unavailable",
  "transient: stripe_unavailable",
  "transient: stripe_rate_limited",
  "transient: stripe_key_in_use",
  "transient: stripe_configuration",
  "transient: deadline",
  "batch failed as a whole",
];

export type Coverage = {
  title: string;
  seen: { what: string; times: number }[];
  missed: string[];
};

/** By kind: what was seen, how often, and what was not. */
export function coverage(counts: ReadonlyMap<string, number>): Coverage[] {
  const endings = new Map<string, number>();
  for (const [what, times] of counts) {
    const [ending = ""] = what.split(", after");
    endings.set(ending, (endings.get(ending) ?? 0) + times);
  }
  const afterwards = [", after a take-over", ", after a look-up"].map((suffix) => {
    const found = [...counts].filter(([what]) => what.includes(suffix));
    return [suffix.slice(2), found.reduce((sum, [, times]) => sum + times, 0)] as const;
  });
  return [
    part("faults, each at each request", STRIKES, counts),
    part(
      "endings of a delivery",
      [...ENDINGS, "after a take-over", "after a look-up"],
      new Map([...endings, ...afterwards]),
    ),
  ];
}

function part(
  title: string,
  expected: readonly string[],
  counts: ReadonlyMap<string, number>,
): Coverage {
  const seen = expected
    .map((what) => ({ what, times: counts.get(what) ?? 0 }))
    .filter(({ times }) => times > 0);
  return {
    title,
    seen,
    missed: expected.filter((what) => !counts.has(what) || counts.get(what) === 0),
  };
}
