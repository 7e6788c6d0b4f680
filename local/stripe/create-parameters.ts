import type { Params } from "./form.ts";
import { text, textHash } from "./parameters.ts";
import { findPaymentMethod } from "./payment-methods.ts";
import type { PaymentMethod } from "./payment-methods.ts";

/** A valid `POST /v1/payment_intents`: https://docs.stripe.com/api/payment_intents/create. */
export type CreateParameters = {
  /** Minor units. */
  amount: number;
  currency: string;
  customer: string | undefined;
  paymentMethodId: string | undefined;
  paymentMethod: PaymentMethod | undefined;
  automaticPaymentMethods: boolean;
  allowRedirects: "always" | "never";
  confirm: boolean;
  offSession: boolean;
  description: string | undefined;
  statementDescriptor: string | undefined;
  statementDescriptorSuffix: string | undefined;
  receiptEmail: string | undefined;
  metadata: Record<string, string>;
};

/** Call it when `createProblem` found nothing. */
export function createParameters(params: Params): CreateParameters {
  const automatic = textHash(params, "automatic_payment_methods");
  return {
    amount: Number(params["amount"]),
    currency: (text(params, "currency") ?? "").toLowerCase(),
    customer: text(params, "customer"),
    paymentMethodId: text(params, "payment_method"),
    paymentMethod: findPaymentMethod(text(params, "payment_method") ?? ""),
    automaticPaymentMethods: automatic["enabled"] !== "false",
    allowRedirects: automatic["allow_redirects"] === "never" ? "never" : "always",
    confirm: params["confirm"] === "true",
    offSession: params["off_session"] === "true",
    description: text(params, "description"),
    statementDescriptor: text(params, "statement_descriptor"),
    statementDescriptorSuffix: text(params, "statement_descriptor_suffix"),
    receiptEmail: text(params, "receipt_email"),
    metadata: textHash(params, "metadata"),
  };
}
