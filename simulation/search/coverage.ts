// What the schedules went through: every fault at every request, every delivery result.

import { DELIVERED_TWICE, FAULTS } from "../world/faults.ts";
import type { Service } from "../world/invocation.ts";
import { EVENT_FAULTS, ORDER_FAULTS } from "../world/outcome-steps.ts";

/** By family: the requests, and how what is received ends. */
const WORKER = {
  table: ["put", "take over", "complete", "release"],
  stripe: ["charge", "look up"],
  queue: ["set visibility"],
  poller: ["acknowledge", "return"],
};

/** What the worker does is counted where it is alone. */
const OUTCOMES = {
  table: ["advance"],
  stripe: ["retrieve"],
  queue: ["set visibility"],
  bus: ["publish"],
  poller: ["acknowledge", "return", "checkpoint"],
};

const ORDERS = {
  table: ["accept"],
  orders: ["read order", "transact"],
  queue: ["send", "set visibility"],
  poller: ["answer", "acknowledge", "return"],
};

const each = (decision: string, ...kinds: string[]): string[] =>
  kinds.map((kind) => `${decision}: ${kind}`);

/** Stripe's own conflict is not here: the fingerprint prevents it. */
const RESULTS = [
  ...each("completed", "succeeded", "processing", "requires_action", "declined", "canceled"),
  ...each("duplicate", "succeeded", "processing", "requires_action", "declined"),
  "in_progress",
  "conflict",
  "lease_lost",
  "not_started",
  "rejected: stripe_rejected",
  ...each("invalid", "amount", "message_too_old"),
  ...each("transient", "table_unavailable", "stripe_unavailable", "stripe_rate_limited"),
  ...each("transient", "stripe_key_in_use", "stripe_lookup", "stripe_configuration"),
  ...each("transient", "record_damaged", "deadline"),
  "batch failed as a whole",
];

const CIRCUMSTANCES = ["after a takeover", "after a lookup"];

/** How an event of Stripe's, and a change of the table, can end. */
const OUTCOME_RESULTS = [
  ...each("finalizer", "advanced", "duplicate", "in_progress", "unmatched"),
  ...each("finalizer", "double_charge", "foreign"),
  ...each("finalizer: transient", "table_unavailable", "stripe_unavailable"),
  ...each("finalizer: transient", "stripe_rate_limited", "stripe_configuration", "stripe_lookup"),
  ...each("publisher", "published", "failed"),
  "batch bisected",
];

/** How a client's request, and an outcome event of an order, can end. */
const ORDER_RESULTS = [
  ...each("door", "202", "422 key-reused", "422 invalid-payment", "503 unavailable"),
  ...each("fulfillment: applied", "shipped", "backordered", "unpaid", "noted"),
  ...each("fulfillment", "duplicate", "superseded", "conflict", "transient"),
];

const FAMILIES = {
  random: { requests: WORKER, ways: { again: DELIVERED_TWICE }, ends: RESULTS },
  "random outcomes": { requests: OUTCOMES, ways: EVENT_FAULTS, ends: OUTCOME_RESULTS },
  "random orders": { requests: ORDERS, ways: ORDER_FAULTS, ends: ORDER_RESULTS },
};

type Family = keyof typeof FAMILIES;
type Requests = Partial<Record<Service, readonly string[]>>;

type Counts = ReadonlyMap<string, number>;

/** How often each fault was injected into each request; undefined where it cannot be. */
function injections(counts: Counts, family: Family) {
  const requests: Requests = FAMILIES[family].requests;
  const rows = FAULTS.map(({ name, services, only }) => {
    const hit = new Set(services.flatMap((service) => requests[service] ?? []));
    const at = requestsOf(family).map((request): [string, number | undefined] => {
      const can = hit.has(request) && (only ?? request) === request;
      return [request, can ? (counts.get(`${name} (${request})`) ?? 0) : undefined];
    });
    return { fault: name, at: new Map(at) };
  });
  return [
    ...rows.filter(({ at }) => [...at.values()].some((times) => times !== undefined)),
    ...Object.values(FAMILIES[family].ways).map((fault) => ({
      fault,
      at: new Map<string, number | undefined>([["", counts.get(fault) ?? 0]]),
    })),
  ];
}

const requestsOf = (family: Family): string[] => Object.values(FAMILIES[family].requests).flat();

/** How often each delivery result occurred, and in which circumstances. */
function results(counts: Counts, family: Family): Map<string, number> {
  const total = (matches: (what: string) => boolean): number =>
    [...counts].reduce((sum, [what, times]) => sum + (matches(what) ? times : 0), 0);
  return new Map([
    ...FAMILIES[family].ends.map((result): [string, number] => [
      result,
      total((what) => what.split(", after")[0] === result),
    ]),
    ...(family === "random" ? CIRCUMSTANCES : []).map((suffix): [string, number] => [
      suffix,
      total((what) => what.includes(`, ${suffix}`)),
    ]),
  ]);
}

/** What never happened: `fault (request)` and results. */
export function missed(counts: Counts, family: Family): string[] {
  const faults = injections(counts, family).flatMap(({ fault, at }) =>
    [...at].filter(([, times]) => times === 0).map(([request]) => `${fault} (${request})`),
  );
  const ends = [...results(counts, family)]
    .filter(([, times]) => times === 0)
    .map(([result]) => result);
  return [...faults, ...ends];
}

/** Both as tables. */
export function formatCoverage(counts: Counts, family: Family): string {
  const rows = injections(counts, family);
  const requests = requestsOf(family);
  const table = rows.map(({ fault, at }) => {
    if (at.has("")) return `  ${fault.padEnd(WIDE)}${cell(at.get(""))}`;
    return `  ${fault.padEnd(WIDE)}${requests.map((request) => cell(at.get(request))).join("  ")}`;
  });
  const titles = requests.map((request) => (SHORT[request] ?? request).padStart(6)).join("  ");
  const ends = [...results(counts, family)].map(
    ([result, times]) => `  ${result.padEnd(WIDE)}${cell(times)}`,
  );
  const never = missed(counts, family);
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

const SHORT: Readonly<Record<string, string>> = {
  "take over": "take",
  complete: "compl.",
  release: "rel.",
  "look up": "look",
  "set visibility": "visib.",
  acknowledge: "ack",
  advance: "adv.",
  retrieve: "retr.",
  publish: "publ.",
  checkpoint: "checkp",
  "read order": "read",
  transact: "trans.",
};

const cell = (times: number | undefined): string =>
  (times === undefined ? "–" : shortNumber(times)).padStart(6);

/** 1234 as `1,234`, 1234567 as `1.2M`. */
function shortNumber(n: number): string {
  if (n < 10_000) return n.toLocaleString("en-US");
  return n < 1_000_000 ? `${Math.round(n / 1_000)}k` : `${(n / 1_000_000).toFixed(1)}M`;
}
