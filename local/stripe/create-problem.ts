import { invalidRequest, resourceMissing } from "./errors.ts";
import type { Answer } from "./errors.ts";
import type { Params } from "./form.ts";
import { moneyProblem } from "./money.ts";
import {
  characters,
  customerProblem,
  invalidBoolean,
  metadataProblem,
  missingParameter,
  text,
  unknownParameter,
} from "./parameters.ts";
import type { Known } from "./parameters.ts";
import { findPaymentMethod } from "./payment-methods.ts";

/**
 * Those of stripe-node's own API version, 2026-10-28.endive: `payment_method_types`, which older
 * versions know, is unknown to it.
 */
const known: Known = {
  amount: "string",
  currency: "string",
  customer: "string",
  payment_method: "string",
  confirm: "string",
  off_session: "string",
  description: "string",
  statement_descriptor_suffix: "string",
  metadata: "any",
  capture_method: "string",
};

/** Parameters that Stripe knows and this server does not act on: an error, for ignoring them would be a different payment. */
const notEmulated = [
  "allowed_payment_method_types",
  "amount_details",
  "application_fee_amount",
  "automatic_payment_methods",
  "confirmation_method",
  "confirmation_token",
  "customer_account",
  "error_on_requires_action",
  "excluded_payment_method_types",
  "expand",
  "hooks",
  "mandate",
  "mandate_data",
  "on_behalf_of",
  "payment_details",
  "payment_method_configuration",
  "payment_method_data",
  "payment_method_options",
  "radar_options",
  "receipt_email",
  "return_url",
  "setup_future_usage",
  "shipping",
  "statement_descriptor",
  "transfer_data",
  "transfer_group",
  "use_stripe_sdk",
];

/** What is wrong with a `POST /v1/payment_intents`, in Stripe's words. */
export function createProblem(params: Params): Answer | undefined {
  return (
    notEmulatedProblem(params) ??
    unknownParameter(params, known) ??
    missingParameter(params, ["amount", "currency", "payment_method"]) ??
    invalidBoolean(params, ["confirm", "off_session"]) ??
    moneyProblem(
      text(params, "amount") ?? "",
      text(params, "currency") ?? "",
      findPaymentMethod(text(params, "payment_method") ?? ""),
    ) ??
    descriptorProblem(params) ??
    metadataProblem(params) ??
    customerProblem(params) ??
    paymentMethodProblem(params) ??
    confirmationProblem(params)
  );
}

function notEmulatedProblem(params: Params): Answer | undefined {
  const manual = params["capture_method"] === "manual" ? "capture_method" : undefined;
  const name = notEmulated.find((name) => params[name] !== undefined) ?? manual;
  if (name === undefined) return undefined;
  const message = `The local Stripe server does not emulate '${name}': leave it out of the request.`;
  return invalidRequest(message, { param: name });
}

function descriptorProblem(params: Params): Answer | undefined {
  const param = "statement_descriptor_suffix";
  const suffix = text(params, param) ?? "";
  if (characters(suffix) > 22) {
    return invalidRequest(`Invalid string: ${suffix}; must be at most 22 characters`, { param });
  }
  // https://docs.stripe.com/get-started/account/statement-descriptors#requirements
  if (/[<>\\'"*]/.test(suffix)) {
    const message = "The statement descriptor can't contain the characters <, >, \\, ', \" or *.";
    return invalidRequest(message, { param });
  }
  if (characters(text(params, "description") ?? "") <= 1000) return undefined;
  const message = "Invalid string: description; must be at most 1000 characters";
  return invalidRequest(message, { param: "description" });
}

function paymentMethodProblem(params: Params): Answer | undefined {
  const id = text(params, "payment_method");
  if (id === undefined || findPaymentMethod(id)) return undefined;
  return resourceMissing("PaymentMethod", id, "payment_method");
}

/** Every payment here is confirmed as it is created, and off session. */
function confirmationProblem(params: Params): Answer | undefined {
  const param = ["confirm", "off_session"].find((name) => params[name] !== "true");
  if (param === undefined) return undefined;
  return invalidRequest(`The local Stripe server wants '${param}' to be true.`, { param });
}
