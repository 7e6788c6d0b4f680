// What differs between deployments.

import { RemovalPolicy } from "aws-cdk-lib";
import type { Duration, Environment } from "aws-cdk-lib";

import type { Timings } from "../lib/timing/payments.ts";
import type { PaymentApiProps } from "./payment-api.ts";

/** A new stage is one more constant here, and its name in app.ts. */
export interface Stage {
  readonly name: string;
  /** Account and region. Absent: those of the credentials that deploy. */
  readonly env?: Environment;
  /** The mode of the Stripe key: with one of the other mode, nothing is charged. */
  readonly stripeMode: "live" | "test";
  /** Whether the records, the queues, the secret and the logs outlive the stack. */
  readonly removalPolicy: RemovalPolicy.RETAIN | RemovalPolicy.DESTROY;
  /** Whether the stack has an encryption key of its own; if not, AWS's keys encrypt. */
  readonly customerManagedKey: boolean;
  /** See `PaymentWorkerProps`: new accounts are too small to reserve from. */
  readonly reserveConcurrency: boolean;
  /** For another rate than 15 payments per second: what `npm run capacity` says. */
  readonly timings?: Partial<Timings>;
  /** An SNS topic that notifies the people on call. Absent: alarms show on the dashboard only. */
  readonly alarmTopicArn?: string;
  /** See `PaymentWorkerProps`; it needs `alarmTopicArn`. */
  readonly watchDeletion?: boolean;
  /** An alarm fires when no message was sent for so long. Absent: none does. */
  readonly noTrafficFor?: Duration;
  /** A secret that holds the Stripe key already. Absent: the stack creates an empty one. */
  readonly stripeSecretArn?: string;
  /** Publishes each outcome to an event bus. Switching it on adds a stream to the table, in place. */
  readonly outcomeEvents?: boolean;
  /** Takes Stripe's events, by a webhook and, where its name is given, by Stripe's EventBridge destination. */
  readonly stripeEvents?: boolean | { readonly partnerEventSource: string };
  /** The example of an effect of one's own. Needs `outcomeEvents`. */
  readonly orderFulfillment?: boolean;
  /** Compares the records with Stripe every hour, and moves forward what has been open for long. */
  readonly reconciliation?: boolean;
  /** Accepts payments over HTTP, for IAM principals or for holders of a token. */
  readonly paymentApi?: boolean | Pick<PaymentApiProps, "jwt" | "throttle">;
}

/** Deploys into a new account, and leaves nothing behind when it is destroyed. */
export const dev: Stage = {
  name: "dev",
  stripeMode: "test",
  removalPolicy: RemovalPolicy.DESTROY,
  customerManagedKey: false,
  reserveConcurrency: false,
};

/** Keeps what it has recorded whatever happens to the stack. */
export const prod: Stage = {
  name: "prod",
  stripeMode: "live",
  removalPolicy: RemovalPolicy.RETAIN,
  customerManagedKey: true,
  reserveConcurrency: true,
};
