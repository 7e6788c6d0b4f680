import type { RemovalPolicy } from "aws-cdk-lib";
import type * as kms from "aws-cdk-lib/aws-kms";
import { Construct } from "constructs";
import { DEFAULT_TIMINGS, violations, type Timings } from "../lib/timing.ts";
import { RecordsTable } from "./records-table.ts";
import { emptyStripeSecret, type StripeSecret } from "./stripe-secret.ts";
import { Worker } from "./worker.ts";

export interface PaymentWorkerProps {
  /** `RETAIN`: the records, both queues, the secret and the logs outlive the stack. */
  readonly removalPolicy: RemovalPolicy.RETAIN | RemovalPolicy.DESTROY;
  /** Holds the Stripe key as a plain string. Absent: an empty one is created, to be filled by an operator. */
  readonly stripeSecret?: StripeSecret;
  /** Encrypts everything at rest. Absent: keys that AWS owns. See `encryptionKey()` for one that fits. */
  readonly encryptionKey?: kms.IKey;
  /**
   * `false` reserves no concurrency for the function: only for an account whose concurrency quota is too
   * small to reserve from (new accounts have 10). Another function may then starve this one. Default `true`.
   */
  readonly reserveConcurrency?: boolean;
  /** What differs from `DEFAULT_TIMINGS`, whose rules hold for the result too. */
  readonly timings?: Partial<Timings>;
}

/**
 * The payment worker, to be placed in any stack: send messages to `queue`.
 *
 * Throws when the timings break a rule, before anything is bundled or deployed: a lease shorter than an
 * invocation, say, charges customers twice, and no alarm would tell.
 */
export class PaymentWorker extends Construct {
  readonly records: RecordsTable;
  readonly stripeSecret: StripeSecret;
  readonly worker: Worker;

  constructor(scope: Construct, id: string, props: PaymentWorkerProps) {
    super(scope, id);
    const timings = { ...DEFAULT_TIMINGS, ...props.timings };
    const broken = violations(timings);
    if (broken.length > 0) {
      throw new Error(
        [`${this.node.path} breaks ${broken.length} rule(s) of lib/timing.ts:`, ...broken].join(
          "\n- ",
        ),
      );
    }
    const shared = {
      removalPolicy: props.removalPolicy,
      ...(props.encryptionKey && { encryptionKey: props.encryptionKey }),
    };
    this.records = new RecordsTable(this, "Records", shared);
    this.stripeSecret = props.stripeSecret ?? emptyStripeSecret(this, "StripeKey", shared);
    this.worker = new Worker(this, "Worker", {
      ...shared,
      timings,
      reserveConcurrency: props.reserveConcurrency ?? true,
      table: this.records.table,
      stripeSecret: this.stripeSecret,
    });
  }
}
