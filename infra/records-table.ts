// The table of idempotency records, which keeps a message from being charged twice.

import { RemovalPolicy } from "aws-cdk-lib";
import * as dynamodb from "aws-cdk-lib/aws-dynamodb";
import type * as kms from "aws-cdk-lib/aws-kms";
import { Construct } from "constructs";

export interface RecordsTableProps {
  /** `RETAIN` also switches on the table's deletion protection. */
  readonly removalPolicy: RemovalPolicy;
  /** Encrypts the items. Absent: DynamoDB uses a key that AWS owns. */
  readonly encryptionKey?: kms.IKey;
}

export class RecordsTable extends Construct {
  readonly table: dynamodb.Table;

  constructor(scope: Construct, id: string, props: RecordsTableProps) {
    super(scope, id);
    const retained = props.removalPolicy === RemovalPolicy.RETAIN;
    // `Table` and not `TableV2`: that one renders AWS::DynamoDB::GlobalTable, and a claim is exclusive
    // in one region only, so a replica would be an invitation to charge twice.
    this.table = new dynamodb.Table(this, "Table", {
      partitionKey: { name: "messageId", type: dynamodb.AttributeType.STRING },
      timeToLiveAttribute: "expiresAt",
      billingMode: dynamodb.BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      removalPolicy: props.removalPolicy,
      deletionProtection: retained,
      ...(props.encryptionKey && {
        encryption: dynamodb.TableEncryption.CUSTOMER_MANAGED,
        encryptionKey: props.encryptionKey,
      }),
    });
  }
}
