import type { Params } from "./form.ts";
import { text, textHash } from "./parameters.ts";
import { findPaymentMethod } from "./payment-methods.ts";

/** A valid `POST /v1/payment_intents`: https://docs.stripe.com/api/payment_intents/create. */
export type CreateParameters = ReturnType<typeof createParameters>;

/** Call it when `createProblem` found nothing. */
export function createParameters(params: Params) {
  const automatic = textHash(params, "automatic_payment_methods");
  return {
    /** Minor units. */
    amount: Number(params["amount"]),
    currency: (text(params, "currency") ?? "").toLowerCase(),
    customer: text(params, "customer"),
    paymentMethodId: text(params, "payment_method"),
    paymentMethod: findPaymentMethod(text(params, "payment_method") ?? ""),
    automaticPaymentMethods: automatic["enabled"] !== "false",
    allowRedirects:
      automatic["allow_redirects"] === "never" ? ("never" as const) : ("always" as const),
    confirm: params["confirm"] === "true",
    offSession: params["off_session"] === "true",
    description: text(params, "description"),
    statementDescriptor: text(params, "statement_descriptor"),
    statementDescriptorSuffix: text(params, "statement_descriptor_suffix"),
    receiptEmail: text(params, "receipt_email"),
    metadata: textHash(params, "metadata"),
  };
}
