import { createParameters } from "./create-parameters.ts";
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
  automatic_payment_methods: { enabled: "string", allow_redirects: "string" },
  confirm: "string",
  off_session: "string",
  return_url: "string",
  description: "string",
  statement_descriptor: "string",
  statement_descriptor_suffix: "string",
  receipt_email: "string",
  metadata: "any",
  capture_method: "string",
};

/** Parameters that Stripe knows and this server does not act on: an error, for ignoring them would be a different payment. */
const notEmulated = [
  "allowed_payment_method_types",
  "amount_details",
  "application_fee_amount",
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
  "setup_future_usage",
  "shipping",
  "transfer_data",
  "transfer_group",
  "use_stripe_sdk",
];

/** What is wrong with a `POST /v1/payment_intents`, in Stripe's words. */
export function createProblem(params: Params): Answer | undefined {
  return (
    notEmulatedProblem(params) ??
    unknownParameter(params, known) ??
    missingParameter(params, ["amount", "currency"]) ??
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
  return invalidRequest(
    `The local Stripe server does not emulate '${name}': leave it out of the request.`,
    {
      param: name,
    },
  );
}

function descriptorProblem(params: Params): Answer | undefined {
  for (const param of ["statement_descriptor", "statement_descriptor_suffix"]) {
    const value = text(params, param) ?? "";
    if (characters(value) > 22) {
      return invalidRequest(`Invalid string: ${value}; must be at most 22 characters`, { param });
    }
    // https://docs.stripe.com/get-started/account/statement-descriptors#requirements
    if (/[<>\\'"*]/.test(value)) {
      return invalidRequest(
        "The statement descriptor can't contain the characters <, >, \\, ', \" or *.",
        { param },
      );
    }
  }
  const description = text(params, "description") ?? "";
  if (characters(description) <= 1000) return undefined;
  return invalidRequest("Invalid string: description; must be at most 1000 characters", {
    param: "description",
  });
}

function paymentMethodProblem(params: Params): Answer | undefined {
  const id = text(params, "payment_method");
  if (id === undefined || findPaymentMethod(id)) return undefined;
  return resourceMissing("PaymentMethod", id, "payment_method");
}

function confirmationProblem(params: Params): Answer | undefined {
  const { confirm, offSession, paymentMethod, automaticPaymentMethods, allowRedirects } =
    createParameters(params);
  if (!confirm) {
    if (params["off_session"] === undefined) return undefined;
    const message =
      "The parameter `off_session` cannot be passed when creating a PaymentIntent unless `confirm` is set to true.";
    return invalidRequest(message, { param: "off_session" });
  }
  if (!paymentMethod) {
    const message =
      "You cannot confirm this PaymentIntent because it's missing a payment method. You can either update the PaymentIntent " +
      "with a payment method and then confirm it again, or confirm it again directly with a payment method or ConfirmationToken.";
    return invalidRequest(message, { code: "payment_intent_unexpected_state" });
  }
  // Off session Stripe asks for none: https://docs.stripe.com/payments/checkout/save-and-reuse.
  const redirects = automaticPaymentMethods && allowRedirects === "always";
  if (offSession || !redirects || text(params, "return_url")) return undefined;
  const message =
    "This PaymentIntent is configured to accept payment methods enabled in your Dashboard. Because some of these payment " +
    "methods might redirect your customer off of your page, you must provide a `return_url`. If you don't want to accept " +
    "redirect-based payment methods, set `automatic_payment_methods[enabled]` to `true` and " +
    "`automatic_payment_methods[allow_redirects]` to `never` when creating Setup Intents and Payment Intents.";
  return invalidRequest(message);
}
