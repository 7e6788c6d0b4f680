// What the simulation runs of lib/.
export * from "../../lib/lambda/payment-handler.ts";
export * from "../../lib/stripe/charges.ts";
export * from "../../lib/aws/records-table.ts";
export * from "../../lib/stripe/api-key.ts";
export * from "../../lib/lambda/finalizer-handler.ts";
export * from "../../lib/stripe/payments.ts";
export * from "../../lib/aws/recorded-outcomes.ts";
export * from "../../lib/lambda/outcome-publisher.ts";
export * from "../../lib/aws/event-bus.ts";
export * from "../../lib/lambda/fulfillment-handler.ts";
export * from "../../lib/aws/orders-table.ts";
export * from "../../lib/lambda/api-handler.ts";
export * from "../../lib/aws/send-message.ts";
