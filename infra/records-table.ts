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
  /**
   * Whether each change goes to a stream, which `OutcomeEvents` publishes from. Switching it on later
   * changes the table in place; switching it off and on again makes another stream.
   */
  readonly stream?: boolean;
}

/** A table with a key, a TTL and nothing else, which is kept with its items where `props` say so. */
export const keyedTable = (
  scope: Construct,
  id: string,
  key: string,
  { removalPolicy, encryptionKey, stream }: RecordsTableProps,
): dynamodb.Table =>
  // `Table` and not `TableV2`: that one renders AWS::DynamoDB::GlobalTable, and a claim is exclusive
  // in one region only, so a replica would be an invitation to charge twice.
  new dynamodb.Table(scope, id, {
    partitionKey: { name: key, type: dynamodb.AttributeType.STRING },
    timeToLiveAttribute: "expiresAt",
    billingMode: dynamodb.BillingMode.PAY_PER_REQUEST,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    removalPolicy,
    deletionProtection: removalPolicy === RemovalPolicy.RETAIN,
    ...(stream && { stream: dynamodb.StreamViewType.NEW_AND_OLD_IMAGES }),
    ...(encryptionKey && {
      encryption: dynamodb.TableEncryption.CUSTOMER_MANAGED,
      encryptionKey,
    }),
  });

export class RecordsTable extends Construct {
  readonly table: dynamodb.Table;

  constructor(scope: Construct, id: string, props: RecordsTableProps) {
    super(scope, id);
    this.table = keyedTable(this, "Table", "messageId", props);
  }
}

const RECORDS_KEY =
  '[{"attributeName":"messageId","keyType":"HASH"}],[{"attributeName":"messageId","attributeType":"S"}]';

/**
 * Whether a table that exists already can hold the records. One that is imported
 * cannot be checked: its partition key must be `messageId` (a string) with no sort
 * key, its TTL attribute `expiresAt`.
 *
 * @throws Error for a table of another shape, and for one that is replicated: a claim is exclusive in one
 * region only, so a replica charges twice
 */
export function checkRecordsTable(table: dynamodb.ITable | dynamodb.Table): void {
  const resource = table.node.defaultChild;
  const name = table.node.path;
  if (resource instanceof dynamodb.CfnGlobalTable) {
    throw new Error(
      `${name} is a TableV2, which may get replicas, and a claim is exclusive in one region only: pass a dynamodb.Table.`,
    );
  }
  if (!(resource instanceof dynamodb.CfnTable)) return;
  const { keySchema, attributeDefinitions } = resource;
  const key = [keySchema, attributeDefinitions].map((part) => JSON.stringify(part)).join();
  if (key !== RECORDS_KEY) {
    throw new Error(
      `${name} cannot hold the records: its key must be the string "messageId", and no sort key.`,
    );
  }
  const ttl = resource.timeToLiveSpecification as
    | dynamodb.CfnTable.TimeToLiveSpecificationProperty
    | undefined;
  if (ttl?.attributeName !== "expiresAt" || ttl.enabled !== true) {
    throw new Error(
      `${name} would keep the records forever: set timeToLiveAttribute to "expiresAt".`,
    );
  }
}
