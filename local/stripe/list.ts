import { invalidInteger, invalidRequest, resourceMissing } from "./errors.ts";
import type { Answer } from "./errors.ts";
import type { Params } from "./form.ts";
import { shown, text, textHash, unknownName, unknownParameter } from "./parameters.ts";
import type { Known } from "./parameters.ts";
import type { PaymentIntentStore } from "./payment-intent-store.ts";
import type { PaymentIntent } from "./payment-intent.ts";

const comparisons = {
  gt: (created: number, bound: number) => created > bound,
  gte: (created: number, bound: number) => created >= bound,
  lt: (created: number, bound: number) => created < bound,
  lte: (created: number, bound: number) => created <= bound,
};

/**
 * `GET /v1/payment_intents`: newest first, and a list shows what was written before it.
 * https://docs.stripe.com/api/payment_intents/list.
 */
export function listPaymentIntents(
  store: PaymentIntentStore,
  account: string,
  params: Params,
): Answer {
  const customer = text(params, "customer");
  return listPage({
    params,
    known: { customer: "string" },
    oldestFirst: store.of(account),
    url: "/v1/payment_intents",
    object: "payment_intent",
    matches: ({ intent }) => customer === undefined || intent.customer === customer,
    show: ({ intent }) => intent,
  });
}

type Listed = { id: string; created: number } | { intent: PaymentIntent };

type List<T extends Listed> = {
  params: Params;
  /** Beside the parameters of every list. */
  known: Known;
  /** Not copied, since a soak fills it with thousands: read from its end, it is newest first. */
  oldestFirst: readonly T[];
  url: string;
  /** What an entry is called, when a cursor is none. */
  object: string;
  matches: (entry: T) => boolean;
  show: (entry: T) => object;
};

const everyList: Known = {
  created: "any",
  limit: "string",
  starting_after: "string",
  ending_before: "string",
  expand: "any",
};

/** One page of a list. https://docs.stripe.com/api/pagination. */
export function listPage<T extends Listed>(list: List<T>): Answer {
  const { params, oldestFirst, url, matches, show } = list;
  const after = text(params, "starting_after");
  const before = text(params, "ending_before");
  const problem =
    unknownParameter(params, { ...everyList, ...list.known }) ??
    limitProblem(params) ??
    createdProblem(params) ??
    cursorProblem(list, { after, before });
  if (problem) return problem;

  const fromEnd = (step: number) => oldestFirst[oldestFirst.length - 1 - step];
  const position = (id: string) =>
    oldestFirst.length - 1 - oldestFirst.findIndex((entry) => keyOf(entry).id === id);
  const from = after === undefined ? 0 : position(after) + 1;
  const to = before === undefined ? oldestFirst.length : position(before);
  const createdThen = createdFilter(params);
  const found: T[] = [];
  const limit = limitOf(params);
  // A page before a cursor is the one next to it: it is gathered backwards.
  for (let step = 0; step < to - from && found.length <= limit; step += 1) {
    const entry = fromEnd(before === undefined ? from + step : to - 1 - step);
    if (entry && createdThen(keyOf(entry).created) && matches(entry)) found.push(entry);
  }
  const page = found.slice(0, limit);
  const data = (before === undefined ? page : page.toReversed()).map(show);
  return { status: 200, body: { object: "list", data, has_more: found.length > limit, url } };
}

function keyOf(entry: Listed): { id: string; created: number } {
  return "intent" in entry ? entry.intent : entry;
}

export function limitProblem(params: Params): Answer | undefined {
  const limit = params["limit"];
  if (limit === undefined) return undefined;
  if (typeof limit !== "string" || !/^-?\d+$/.test(limit)) {
    return invalidInteger(`Invalid integer: ${shown(limit)}`, "limit");
  }
  const bound = Number(limit) < 1 ? "greater than or equal to 1" : "less than or equal to 100";
  const isIn = Number(limit) >= 1 && Number(limit) <= 100;
  return isIn ? undefined : invalidInteger(`This value must be ${bound}.`, "limit");
}

export function limitOf(params: Params): number {
  return Number(text(params, "limit") ?? 10);
}

function createdProblem(params: Params): Answer | undefined {
  const created = params["created"];
  const bounds = typeof created === "string" ? { "": created } : textHash(params, "created");
  for (const [name, value] of Object.entries(bounds)) {
    const param = name === "" ? "created" : `created[${name}]`;
    if (name !== "" && !(name in comparisons)) return unknownName(param);
    if (!/^-?\d+$/.test(value)) return invalidInteger(`Invalid integer: ${value}`, param);
  }
  return undefined;
}

function cursorProblem<T extends Listed>(
  { oldestFirst, object }: List<T>,
  { after, before }: { after: string | undefined; before: string | undefined },
): Answer | undefined {
  if (after !== undefined && before !== undefined) {
    return invalidRequest(
      "Received both starting_after and ending_before parameters. Please pass in only one.",
    );
  }
  for (const [param, id] of [
    ["starting_after", after],
    ["ending_before", before],
  ] as const) {
    if (id !== undefined && !oldestFirst.some((entry) => keyOf(entry).id === id))
      return resourceMissing(object, id, param);
  }
  return undefined;
}

function createdFilter(params: Params): (created: number) => boolean {
  const exactly = text(params, "created");
  const bounds = Object.entries(textHash(params, "created"));
  return (created) =>
    (exactly === undefined || created === Number(exactly)) &&
    bounds.every(([name, bound]) =>
      comparisons[name as keyof typeof comparisons](created, Number(bound)),
    );
}
