import { invalidRequest } from "./errors.ts";
import type { Answer } from "./errors.ts";
import type { Params } from "./form.ts";
import { comparisons, limitOf, limitProblem } from "./list.ts";
import { missingParameter, text, unknownParameter } from "./parameters.ts";
import type { PaymentIntentStore } from "./payment-intent-store.ts";
import type { PaymentIntent } from "./payment-intent.ts";

type Clause = (intent: PaymentIntent) => boolean;

/**
 * `GET /v1/payment_intents/search`. An intent is found `lagMs` after it was created and not before:
 * https://docs.stripe.com/search#data-freshness. Pages are the offsets of their first result.
 */
export function searchPaymentIntents(
  store: PaymentIntentStore,
  account: string,
  params: Params,
  time: { nowMs: number; lagMs: number },
): Answer {
  const problem =
    unknownParameter(params, { query: "string", limit: "string", page: "string" }) ??
    missingParameter(params, ["query"]) ??
    limitProblem(params);
  if (problem) return problem;
  const wanted = parseQuery(text(params, "query") ?? "");
  if (typeof wanted !== "function") return wanted;

  const found = store
    .of(account)
    .filter(({ intent, createdMs }) => createdMs + time.lagMs <= time.nowMs && wanted(intent))
    .map(({ intent }) => intent)
    .toReversed();
  const from = Number(text(params, "page") ?? 0);
  if (!Number.isInteger(from)) return invalidRequest("Invalid page.", { param: "page" });
  const to = from + limitOf(params);
  const has_more = found.length > to;
  const next_page = has_more ? String(to) : null;
  const data = found.slice(from, to);
  const url = "/v1/payment_intents/search";
  return { status: 200, body: { object: "search_result", data, has_more, next_page, url } };
}

/** Stripe's query language for these fields: https://docs.stripe.com/search#search-query-language. */
function parseQuery(query: string): Clause | Answer {
  // Quoted text first, so that a value with " AND " in it stays whole.
  const words = query.match(/(?:[^\s'"\\]|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")+/g) ?? [];
  const joins = new Set(
    words.filter((_, index) => index % 2 === 1).map((word) => word.toUpperCase()),
  );
  const clauses = words.filter((_, index) => index % 2 === 0).map(parseClause);
  if (
    joins.size > 1 ||
    words.length % 2 === 0 ||
    ![...joins].every((join) => join === "AND" || join === "OR")
  ) {
    return badQuery(query);
  }
  const valid = clauses.filter((clause) => clause !== undefined);
  if (valid.length < clauses.length) return badQuery(query);
  return joins.has("OR")
    ? (intent) => valid.some((clause) => clause(intent))
    : (intent) => valid.every((clause) => clause(intent));
}

function parseClause(word: string): Clause | undefined {
  const match = /^(-?)(\w+)(?:\[(['"])(.+?)\3\])?(:|>=|<=|>|<)(.+)$/.exec(word);
  if (!match) return undefined;
  const [, negated, field = "", , key, operator = "", raw = ""] = match;
  const quoted = /^(['"])(.*)\1$/.exec(raw);
  const value = quoted?.[2]?.replaceAll(/\\(.)/g, "$1") ?? raw;
  const holds = clause(field, key, operator, value);
  return holds && negated ? (intent) => !holds(intent) : holds;
}

function clause(
  field: string,
  key: string | undefined,
  operator: string,
  value: string,
): Clause | undefined {
  if (field === "metadata" && key !== undefined && operator === ":") {
    return (intent) =>
      value === "null" ? !(key in intent.metadata) : intent.metadata[key] === value;
  }
  if ((field === "status" || field === "customer" || field === "currency") && operator === ":") {
    return (intent) => intent[field] === value;
  }
  if ((field === "created" || field === "amount") && /^\d+$/.test(value)) {
    const bound = Number(value);
    return (intent) => COMPARISONS[operator]?.(intent[field], bound) ?? intent[field] === bound;
  }
  return undefined;
}

const COMPARISONS: Readonly<Record<string, (actual: number, bound: number) => boolean>> = {
  ">": comparisons.gt,
  ">=": comparisons.gte,
  "<": comparisons.lt,
  "<=": comparisons.lte,
};

function badQuery(query: string): Answer {
  const message = `We were unable to parse your search query: ${query}. See https://stripe.com/docs/search#search-query-language.`;
  return invalidRequest(message, { param: "query" });
}
