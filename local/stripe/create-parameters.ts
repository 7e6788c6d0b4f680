import type { Params } from "./form.ts";
import { text, textHash } from "./parameters.ts";
import { findPaymentMethod } from "./payment-methods.ts";

/** A valid `POST /v1/payment_intents`: https://docs.stripe.com/api/payment_intents/create. */
export type CreateParameters = ReturnType<typeof createParameters>;

/** Call it when `createProblem` found nothing. */
export function createParameters(params: Params) {
  return {
    /** Minor units. */
    amount: Number(params["amount"]),
    currency: (text(params, "currency") ?? "").toLowerCase(),
    customer: text(params, "customer"),
    paymentMethodId: text(params, "payment_method"),
    paymentMethod: findPaymentMethod(text(params, "payment_method") ?? ""),
    description: text(params, "description"),
    statementDescriptorSuffix: text(params, "statement_descriptor_suffix"),
    metadata: textHash(params, "metadata"),
  };
}
