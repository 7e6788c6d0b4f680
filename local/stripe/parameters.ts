import { invalidRequest, resourceMissing } from "./errors.ts";
import type { Answer } from "./errors.ts";
import type { Params } from "./form.ts";

/** The parameters that a route knows: a leaf takes a string, a hash has the names inside, "any" takes whatever comes. */
export type Known = { [name: string]: "string" | "any" | Known };

export function unknownParameter(params: Params, known: Known, path = ""): Answer | undefined {
  for (const [name, value] of Object.entries(params)) {
    const full = path === "" ? name : `${path}[${name}]`;
    const rule = Object.hasOwn(known, name) ? known[name] : undefined;
    if (rule === undefined) return unknownName(full);
    if (rule === "any") continue;
    if (rule === "string") {
      if (typeof value === "string") continue;
      return invalidRequest(`Invalid string: ${shown(value)}`, { param: full });
    }
    if (typeof value === "string") return invalidRequest("Invalid object", { param: full });
    const inside = unknownParameter(value, rule, full);
    if (inside) return inside;
  }
  return undefined;
}

export function unknownName(param: string): Answer {
  const message = `Received unknown parameter: ${param}`;
  return invalidRequest(message, { param, code: "parameter_unknown" });
}

export function missingParameter(params: Params, names: readonly string[]): Answer | undefined {
  for (const name of names) {
    if (params[name] === undefined) return missing(name);
    if (params[name] === "") {
      const message =
        `You passed an empty string for '${name}'. We assume empty values are an attempt to unset a parameter; however ` +
        `'${name}' cannot be unset. You should remove '${name}' from your request or supply a non-empty value.`;
      return invalidRequest(message, { param: name, code: "parameter_invalid_empty" });
    }
  }
  return undefined;
}

export function missing(param: string): Answer {
  return invalidRequest(`Missing required param: ${param}.`, { param, code: "parameter_missing" });
}

export function invalidBoolean(params: Params, names: readonly string[]): Answer | undefined {
  for (const name of names) {
    const value = params[name];
    if (value !== undefined && value !== "true" && value !== "false") {
      return invalidRequest(`Invalid boolean: ${shown(value)}`, { param: name });
    }
  }
  return undefined;
}

/**
 * How many characters Stripe counts: its documents do not say of what, its OpenAPI description gives
 * the limits as JSON Schema's maxLength, which counts code points.
 */
export function characters(value: string): number {
  return [...value].length;
}

/** Stripe's limits: https://docs.stripe.com/metadata. */
export function metadataProblem(params: Params): Answer | undefined {
  const metadata = params["metadata"];
  if (metadata === undefined) return undefined;
  if (typeof metadata === "string") return invalidRequest("Invalid object", { param: "metadata" });
  const pairs = Object.entries(metadata);
  if (pairs.length > 50) {
    const message = `Metadata can have up to 50 keys, but you passed in ${pairs.length} keys.`;
    return invalidRequest(message, { param: "metadata" });
  }
  for (const [key, value] of pairs) {
    if (typeof value !== "string") {
      return invalidRequest("Metadata values must be strings.", { param: `metadata[${key}]` });
    }
    if (characters(key) > 40) {
      const message = `Metadata keys can have up to 40 characters, but you passed in a key that is ${characters(key)} characters. Invalid key: ${key}`;
      return invalidRequest(message, { param: "metadata" });
    }
    if (characters(value) > 500) {
      const message = `Metadata values can have up to 500 characters, but you passed in a value that is ${characters(value)} characters. Invalid value: ${value}`;
      return invalidRequest(message, { param: `metadata[${key}]` });
    }
  }
  return undefined;
}

/** Every customer exists, also those whose id an account chose, unless "missing" is part of it. */
export function customerProblem(params: Params): Answer | undefined {
  const customer = text(params, "customer");
  if (customer === undefined || !customer.includes("missing")) return undefined;
  return resourceMissing("customer", customer, "customer");
}

/** A value as it can be put into a message. */
export function shown(value: string | Params): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** A parameter that was sent as plain text; an empty one counts as not sent. */
export function text(params: Params, name: string): string | undefined {
  const value = params[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A hash of strings, without the empty values, which unset a key. */
export function textHash(params: Params, name: string): Record<string, string> {
  const value = params[name];
  if (typeof value !== "object") return {};
  const pairs = Object.entries(value).filter(
    (pair): pair is [string, string] => typeof pair[1] === "string",
  );
  return Object.fromEntries(pairs.filter(([, inner]) => inner !== ""));
}
