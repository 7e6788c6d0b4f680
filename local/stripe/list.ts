import { invalidRequest, resourceMissing } from "./errors.ts";
import type { Answer } from "./errors.ts";
import type { Params } from "./form.ts";
import { shown, text, textHash, unknownParameter } from "./parameters.ts";
import type { Known } from "./parameters.ts";
import type { PaymentIntentStore } from "./payment-intent-store.ts";
import type { PaymentIntent } from "./payment-intent.ts";

const comparisons = {
  gt: (created: number, bound: number) => created > bound,
  gte: (created: number, bound: number) => created >= bound,
  lt: (created: number, bound: number) => created < bound,
  lte: (created: number, bound: number) => created <= bound,
};

const known: Known = {
  customer: "string",
  created: "any",
  limit: "string",
  starting_after: "string",
  ending_before: "string",
};

/**
 * `GET /v1/payment_intents`: newest first, and a list shows what was written before it.
 * https://docs.stripe.com/api/payment_intents/list, https://docs.stripe.com/api/pagination.
 */
export function listPaymentIntents(
  store: PaymentIntentStore,
  account: string,
  params: Params,
): Answer {
  const after = text(params, "starting_after");
  const before = text(params, "ending_before");
  const problem =
    unknownParameter(params, known) ??
    limitProblem(params) ??
    createdProblem(params) ??
    cursorProblem(store, account, { after, before });
  if (problem) return problem;

  // Read from its end, the store is newest first; it is not copied, since a soak fills it with thousands.
  const oldestFirst = store.of(account);
  const fromEnd = (step: number) => oldestFirst[oldestFirst.length - 1 - step]?.intent;
  const position = (id: string) =>
    oldestFirst.length - 1 - oldestFirst.findIndex(({ intent }) => intent.id === id);
  const from = after === undefined ? 0 : position(after) + 1;
  const to = before === undefined ? oldestFirst.length : position(before);
  const wanted = filter(params);
  const found: PaymentIntent[] = [];
  const limit = limitOf(params);
  // A page before a cursor is the one next to it: it is gathered backwards.
  for (let step = 0; step < to - from && found.length <= limit; step += 1) {
    const intent = fromEnd(before === undefined ? from + step : to - 1 - step);
    if (intent && wanted(intent)) found.push(intent);
  }
  const page = found.slice(0, limit);
  const data = before === undefined ? page : page.toReversed();
  const has_more = found.length > limit;
  return { status: 200, body: { object: "list", data, has_more, url: "/v1/payment_intents" } };
}

export function limitProblem(params: Params): Answer | undefined {
  const limit = params["limit"];
  if (limit === undefined) return undefined;
  const details = { param: "limit", code: "parameter_invalid_integer" };
  if (typeof limit !== "string" || !/^-?\d+$/.test(limit)) {
    return invalidRequest(`Invalid integer: ${shown(limit)}`, details);
  }
  if (Number(limit) < 1)
    return invalidRequest("This value must be greater than or equal to 1.", details);
  if (Number(limit) > 100)
    return invalidRequest("This value must be less than or equal to 100.", details);
  return undefined;
}

export function limitOf(params: Params): number {
  return Number(text(params, "limit") ?? 10);
}

function createdProblem(params: Params): Answer | undefined {
  const created = params["created"];
  const bounds = typeof created === "string" ? { "": created } : textHash(params, "created");
  for (const [name, value] of Object.entries(bounds)) {
    const param = name === "" ? "created" : `created[${name}]`;
    if (name !== "" && !(name in comparisons)) {
      return invalidRequest(`Received unknown parameter: ${param}`, {
        param,
        code: "parameter_unknown",
      });
    }
    if (!/^-?\d+$/.test(value)) {
      return invalidRequest(`Invalid integer: ${value}`, {
        param,
        code: "parameter_invalid_integer",
      });
    }
  }
  return undefined;
}

function cursorProblem(
  store: PaymentIntentStore,
  account: string,
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
    if (id !== undefined && !store.find(account, id))
      return resourceMissing("payment_intent", id, param);
  }
  return undefined;
}

function filter(params: Params): (intent: PaymentIntent) => boolean {
  const customer = text(params, "customer");
  const exactly = text(params, "created");
  const bounds = Object.entries(textHash(params, "created"));
  return (intent) =>
    (customer === undefined || intent.customer === customer) &&
    (exactly === undefined || intent.created === Number(exactly)) &&
    bounds.every(([name, bound]) =>
      comparisons[name as keyof typeof comparisons](intent.created, Number(bound)),
    );
}
