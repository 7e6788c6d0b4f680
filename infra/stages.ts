import { RemovalPolicy } from "aws-cdk-lib";
import type { Environment } from "aws-cdk-lib";

/** What differs between deployments. A new stage is one more constant and one more line in app.ts. */
export interface Stage {
  readonly name: string;
  /** Account and region. Absent: those of the credentials that deploy. */
  readonly env?: Environment;
  /** Whether the table, the queues, the secret and the logs outlive the stack. */
  readonly removalPolicy: RemovalPolicy.RETAIN | RemovalPolicy.DESTROY;
}

/** Leaves nothing behind when it is destroyed. */
export const dev: Stage = {
  name: "dev",
  removalPolicy: RemovalPolicy.DESTROY,
};

/** Keeps what it has recorded whatever happens to the stack. */
export const prod: Stage = {
  name: "prod",
  removalPolicy: RemovalPolicy.RETAIN,
};
