// stripe-mock (Go): Stripe's own server that answers from Stripe's OpenAPI description and rejects
// what the description does not allow. It keeps no state.

import { readFileSync } from "node:fs";

import { Ajv } from "ajv";
import type { ValidateFunction } from "ajv";

import { INSTALLED, startProcess } from "./process.ts";
import type { ExternalServer } from "./process.ts";

export function startStripeMock(): Promise<ExternalServer> {
  return startProcess({
    program: `${INSTALLED}/go/stripe-mock`,
    args: ["-http-addr", "127.0.0.1:0", "-https-addr", "127.0.0.1:0"],
    announces: /Listening for HTTP at/,
  });
}

type Schema = { properties: Record<string, unknown> };
type Description = {
  components: { schemas: Record<"payment_intent" | "charge", Schema> };
  paths: {
    "/v1/payment_intents": {
      post: {
        requestBody: { content: { "application/x-www-form-urlencoded": { schema: Schema } } };
      };
    };
  };
};

/** Stripe's OpenAPI description. */
export function stripeDescription(): Description {
  return JSON.parse(readFileSync(`${INSTALLED}/stripe-openapi.json`, "utf8")) as Description;
}

type Shape = "paymentIntent" | "error" | "balanceTransaction" | "charge" | "refund";

/** Validators of Stripe's objects, which allow no field that Stripe does not describe. */
export function stripeShapes(): Record<Shape, ValidateFunction> {
  const { components } = stripeDescription();
  // stripe-node's own types (API 2026-10-28) have these, which the description (2026-08-26) has not.
  for (const [schema, name] of [
    ["payment_intent", "payment_record"],
    ["payment_intent", "source"],
    ["charge", "source"],
  ] as const) {
    components.schemas[schema].properties[name] = { type: "string", nullable: true };
  }
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema({ $id: "stripe", components: jsonSchema(components) });
  const shape = (name: string) => ajv.compile({ $ref: `stripe#/components/schemas/${name}` });
  return {
    paymentIntent: shape("payment_intent"),
    error: shape("error"),
    balanceTransaction: shape("balance_transaction"),
    charge: shape("charge"),
    refund: shape("refund"),
  };
}

/** OpenAPI 3.0's dialect as JSON Schema: `nullable` as a type, and objects without other fields. */
function jsonSchema(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(jsonSchema);
  if (typeof value !== "object" || value === null) return value;
  const mapped = Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, jsonSchema(item)]),
  );
  const { nullable, ...schema } = mapped;
  const object = schema["type"] === "object" && typeof schema["properties"] === "object";
  const closed = object ? { additionalProperties: false, ...schema } : schema;
  return nullable === true ? { anyOf: [closed, { type: "null" }] } : closed;
}
