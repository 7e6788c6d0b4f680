import { invalidRequest } from "./errors.ts";
import type { Answer } from "./errors.ts";
import type { Params } from "./form.ts";
import { limitOf, limitProblem } from "./list.ts";
import { missingParameter, text, unknownParameter } from "./parameters.ts";
import type { PaymentIntentStore } from "./payment-intent-store.ts";
import type { PaymentIntent } from "./payment-intent.ts";

/**
 * `GET /v1/payment_intents/search`. An intent is found `lagMs` after it was created and not before:
 * https://docs.stripe.com/search#data-freshness
 */
export function searchPaymentIntents(
  store: PaymentIntentStore,
  account: string,
  params: Params,
  time: { nowMs: number; lagMs: number },
): Answer {
  const problem =
    unknownParameter(params, { query: "string", limit: "string" }) ??
    missingParameter(params, ["query"]) ??
    limitProblem(params);
  if (problem) return problem;
  const wanted = parseQuery(text(params, "query") ?? "");
  if (!wanted) return badQuery(text(params, "query") ?? "");

  const found = store
    .of(account)
    .filter(({ intent, createdMs }) => createdMs + time.lagMs <= time.nowMs && wanted(intent))
    .map(({ intent }) => intent)
    .toReversed();
  const data = found.slice(0, limitOf(params));
  const has_more = found.length > data.length;
  const url = "/v1/payment_intents/search";
  return { status: 200, body: { object: "search_result", data, has_more, url } };
}

/** `metadata["key"]:"value"`, of Stripe's query language the one clause that is asked here.
 * https://docs.stripe.com/search#search-query-language */
function parseQuery(query: string): ((intent: PaymentIntent) => boolean) | undefined {
  const match = /^metadata\[(["'])(.+?)\1\]:(["'])((?:[^\\]|\\.)*)\3$/.exec(query);
  if (!match) return undefined;
  const [, , key = "", , quoted = ""] = match;
  const value = quoted.replaceAll(/\\(.)/g, "$1");
  return (intent) => intent.metadata[key] === value;
}

function badQuery(query: string): Answer {
  const message = `The local Stripe server searches by metadata["KEY"]:"VALUE" alone, and not by ${query}.`;
  return invalidRequest(message, { param: "query" });
}
