// What `import … from "payment-worker"` gives: the constructs for an app of one's own. Nothing in
// this project imports it.
export { encryptionKey } from "./encryption-key.ts";
export { PaymentWorker } from "./payment-worker.ts";
export type { PaymentWorkerProps } from "./payment-worker.ts";
export { OutcomeEvents } from "./outcome-events.ts";
export type { EventChoice, OutcomeEventsProps, PaymentResult } from "./outcome-events.ts";
export { StripeEvents } from "./stripe-events.ts";
export type { StripeEventsProps } from "./stripe-events.ts";
export { OrderFulfillment } from "./order-fulfillment.ts";
export type { OrderFulfillmentProps } from "./order-fulfillment.ts";
export { PaymentApi } from "./payment-api.ts";
export type { PaymentApiProps } from "./payment-api.ts";
export { Reconciliation } from "./reconciliation.ts";
export type { ReconciliationProps } from "./reconciliation.ts";
export type { Network } from "./lambda-function.ts";
export { RecordsTable } from "./records-table.ts";
export { DEFAULT_TIMINGS } from "../lib/timing/payments.ts";
export type { Timings } from "../lib/timing/payments.ts";
