// What the schedules went through: every fault at every request, every delivery result.

import { DELIVERED_TWICE, FAULTS } from "../world/faults.ts";

const REQUESTS = {
  table: ["put", "take over", "complete", "release"],
  stripe: ["charge", "look up"],
  queue: ["set visibility"],
  poller: ["acknowledge", "return"],
} as const;

/** Stripe's own conflict is not here: the fingerprint prevents it. */
const RESULTS = [
  "completed: succeeded",
  "completed: processing",
  "completed: requires_action",
  "completed: declined",
  "completed: canceled",
  "duplicate: succeeded",
  "duplicate: processing",
  "duplicate: requires_action",
  "duplicate: declined",
  "in_progress",
  "conflict",
  "lease_lost",
  "not_started",
  "rejected: stripe_rejected",
  "invalid: amount",
  "invalid: message_too_old",
  "transient: table_unavailable",
  "transient: stripe_unavailable",
  "transient: stripe_rate_limited",
  "transient: stripe_key_in_use",
  "transient: stripe_lookup",
  "transient: stripe_configuration",
  "transient: record_damaged",
  "transient: deadline",
  "batch failed as a whole",
];

const CIRCUMSTANCES = ["after a takeover", "after a lookup"];

type Counts = ReadonlyMap<string, number>;

/** How often each fault was injected into each request; undefined where it cannot be. */
function injections(counts: Counts): { fault: string; at: Map<string, number | undefined> }[] {
  const rows = FAULTS.map(({ name, services, only }) => {
    const hit = new Set(services.flatMap((service): readonly string[] => REQUESTS[service]));
    const at = Object.values(REQUESTS)
      .flat()
      .map((request): [string, number | undefined] => {
        const can = hit.has(request) && (only ?? request) === request;
        return [request, can ? (counts.get(`${name} (${request})`) ?? 0) : undefined];
      });
    return { fault: name, at: new Map(at) };
  });
  return [
    ...rows,
    { fault: DELIVERED_TWICE, at: new Map([["", counts.get(DELIVERED_TWICE) ?? 0]]) },
  ];
}

/** How often each delivery result occurred, and in which circumstances. */
export function results(counts: Counts): Map<string, number> {
  const total = (matches: (what: string) => boolean): number =>
    [...counts].reduce((sum, [what, times]) => sum + (matches(what) ? times : 0), 0);
  return new Map([
    ...RESULTS.map((result): [string, number] => [
      result,
      total((what) => what.split(", after")[0] === result),
    ]),
    ...CIRCUMSTANCES.map((suffix): [string, number] => [
      suffix,
      total((what) => what.includes(`, ${suffix}`)),
    ]),
  ]);
}

/** What never happened: `fault (request)` and results. */
export function missed(counts: Counts): string[] {
  const faults = injections(counts).flatMap(({ fault, at }) =>
    [...at].filter(([, times]) => times === 0).map(([request]) => `${fault} (${request})`),
  );
  const ends = [...results(counts)].filter(([, times]) => times === 0).map(([result]) => result);
  return [...faults, ...ends];
}

/** Both as tables. */
export function formatCoverage(counts: Counts): string {
  const rows = injections(counts);
  const requests = Object.values(REQUESTS).flat();
  const table = rows.map(({ fault, at }) => {
    if (at.has("")) return `  ${fault.padEnd(WIDE)}${cell(at.get(""))}`;
    return `  ${fault.padEnd(WIDE)}${requests.map((request) => cell(at.get(request))).join("  ")}`;
  });
  const titles = requests.map((request) => SHORT[request].padStart(6)).join("  ");
  const ends = [...results(counts)].map(
    ([result, times]) => `  ${result.padEnd(WIDE)}${cell(times)}`,
  );
  const never = missed(counts);
  return [
    `Faults, by the request that failed:`,
    `  ${"".padEnd(WIDE)}${titles}`,
    ...table,
    `Delivery results:`,
    ...ends,
    never.length === 0
      ? "Every fault and every delivery result happened."
      : `Never: ${never.join(", ")}.`,
  ].join("\n");
}

const WIDE = 44;

const SHORT: Readonly<Record<(typeof REQUESTS)[keyof typeof REQUESTS][number], string>> = {
  put: "put",
  "take over": "take",
  complete: "compl.",
  release: "rel.",
  charge: "charge",
  "look up": "look",
  "set visibility": "visib.",
  acknowledge: "ack",
  return: "return",
};

const cell = (times: number | undefined): string =>
  (times === undefined ? "–" : shortNumber(times)).padStart(6);

/** 1234 as `1,234`, 1234567 as `1.2M`. */
function shortNumber(n: number): string {
  if (n < 10_000) return n.toLocaleString("en-US");
  return n < 1_000_000 ? `${Math.round(n / 1_000)}k` : `${(n / 1_000_000).toFixed(1)}M`;
}
