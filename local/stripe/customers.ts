import { randomBytes } from "node:crypto";

import type { Answer } from "./errors.ts";
import type { Params } from "./form.ts";
import { metadataProblem, text, textHash, unknownParameter } from "./parameters.ts";
import type { Known } from "./parameters.ts";

const known: Known = { name: "string", email: "string", description: "string", metadata: "any" };

export function customerParametersProblem(params: Params): Answer | undefined {
  return unknownParameter(params, known) ?? metadataProblem(params);
}

/** `POST /v1/customers`: only an id to charge with, since every customer exists here. */
export function createCustomer(params: Params, nowMs: number): Answer {
  const body = {
    id: `cus_${randomBytes(7).toString("hex")}`,
    object: "customer",
    created: Math.floor(nowMs / 1000),
    description: text(params, "description") ?? null,
    email: text(params, "email") ?? null,
    livemode: false,
    metadata: textHash(params, "metadata"),
    name: text(params, "name") ?? null,
  };
  return { status: 200, body };
}
