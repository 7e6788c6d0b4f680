// With mocked clients: the shape of each command, and what each error means. Copy from here for
// unit tests of your own; whether DynamoDB agrees is what test/cases asks.

import {
  ConditionalCheckFailedException,
  ProvisionedThroughputExceededException,
} from "@aws-sdk/client-dynamodb";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { mockClient } from "aws-sdk-client-mock";
import { beforeEach, expect, test, vi } from "vitest";

import { recordsTable } from "../../../lib/aws/records-table.ts";
import type { IdempotencyRecord } from "../../../lib/payments/record.ts";

const client = DynamoDBDocumentClient.from(new DynamoDBClient({ region: "us-east-1" }));
const dynamo = mockClient(client);
const records = recordsTable(client, "records");

const record: IdempotencyRecord = {
  messageId: "order-1001",
  status: "IN_PROGRESS",
  owner: "owner-1",
  leaseExpiresAt: 1_795_953_665_000,
  attempt: 1,
  firstClaimedAt: 1_795_953_600_000,
  fingerprint: "f00d",
  expiresAt: 1_798_977_600,
};

const PAID = { M: { result: { S: "succeeded" }, paymentIntentId: { S: "pi_1" } } };

beforeEach(() => dynamo.reset());
const asked = () => dynamo.calls().map(({ args: [{ input }] }) => input);
const failedCheck = (Item?: Record<string, AttributeValue>) =>
  new ConditionalCheckFailedException({ message: "failed", $metadata: {}, ...(Item && { Item }) });

test("a claim is one put, if nobody has the message id, that asks for the old item on failure", async () => {
  dynamo.on(PutCommand).resolves({});

  const existing = await records.claim(record, 1_000);

  expect(existing).toBeUndefined();
  expect(asked()).toEqual([
    {
      TableName: "records",
      Item: record,
      ConditionExpression: "attribute_not_exists(messageId)",
      ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    },
  ]);
});

test("a claim that fails answers with the record that was there", async () => {
  dynamo.on(PutCommand).rejects(
    failedCheck({
      messageId: { S: "order-1001" },
      status: { S: "COMPLETED" },
      owner: { S: "owner-0" },
      leaseExpiresAt: { N: "1795953600000" },
      attempt: { N: "2" },
      firstClaimedAt: { N: "1795950000000" },
      fingerprint: { S: "f00d" },
      expiresAt: { N: "1798974000" },
      outcome: PAID,
    }),
  );

  expect(await records.claim(record, 1_000)).toEqual({
    messageId: "order-1001",
    status: "COMPLETED",
    owner: "owner-0",
    leaseExpiresAt: 1_795_953_600_000,
    attempt: 2,
    firstClaimedAt: 1_795_950_000_000,
    fingerprint: "f00d",
    expiresAt: 1_798_974_000,
    outcome: { result: "succeeded", paymentIntentId: "pi_1" },
  });
});

test("a takeover holds on to the exact owner and lease that were seen, and keeps the first claim's time", async () => {
  dynamo.on(UpdateCommand).resolves({});
  const claim = { ...record, owner: "owner-2", attempt: 2, leaseExpiresAt: 1_795_953_999_000 };

  const standing = await records.takeOver(record, claim, 1_000);

  expect(standing).toBeUndefined();
  expect(asked()).toEqual([
    {
      TableName: "records",
      Key: { messageId: "order-1001" },
      ConditionExpression:
        "#owner = :seenOwner AND leaseExpiresAt = :seenLease AND #status = :inProgress",
      UpdateExpression: "SET #owner = :owner, leaseExpiresAt = :lease, attempt = :attempt",
      ExpressionAttributeNames: { "#owner": "owner", "#status": "status" },
      ExpressionAttributeValues: {
        ":seenOwner": "owner-1",
        ":seenLease": 1_795_953_665_000,
        ":inProgress": "IN_PROGRESS",
        ":owner": "owner-2",
        ":lease": 1_795_953_999_000,
        ":attempt": 2,
      },
      ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    },
  ]);
});

test("only the owner completes, and completing forgets the last error", async () => {
  dynamo.on(UpdateCommand).resolves({});

  const completed = await records.complete(
    record,
    {
      outcome: { result: "declined", code: "card_declined", declineCode: "lost_card" },
      completedAt: 1_795_953_601_000,
    },
    1_000,
  );

  expect(completed).toBe(true);
  expect(asked()).toEqual([
    {
      TableName: "records",
      Key: { messageId: "order-1001" },
      ConditionExpression: "#owner = :owner AND #status = :inProgress",
      UpdateExpression:
        "SET #status = :completed, outcome = :outcome, completedAt = :now, revision = :first REMOVE lastError",
      ExpressionAttributeNames: { "#owner": "owner", "#status": "status" },
      ExpressionAttributeValues: {
        ":owner": "owner-1",
        ":inProgress": "IN_PROGRESS",
        ":completed": "COMPLETED",
        ":outcome": { result: "declined", code: "card_declined", declineCode: "lost_card" },
        ":now": 1_795_953_601_000,
        ":first": 1,
      },
      ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    },
  ]);
});

test.each<[string, Record<string, AttributeValue> | undefined, boolean]>([
  [
    "a record of ours with an outcome: the first try was written",
    { owner: { S: "owner-1" }, outcome: PAID },
    true,
  ],
  ["a record of ours without an outcome", { owner: { S: "owner-1" } }, false],
  ["another worker's outcome", { owner: { S: "owner-2" }, outcome: PAID }, false],
  ["another worker's claim", { owner: { S: "owner-2" } }, false],
  ["no record", undefined, false],
])("completing that fails against %s is %j", async (_, Item, completed) => {
  dynamo.on(UpdateCommand).rejects(failedCheck(Item));
  const outcome = { result: "succeeded", paymentIntentId: "pi_1" } as const;

  expect(await records.complete(record, { outcome, completedAt: 1 }, 1_000)).toBe(completed);
});

test("a release sets the lease to expired, only for the owner and only while nothing is complete", async () => {
  dynamo.on(UpdateCommand).resolves({});

  await records.release(record, { kind: "stripe_rate_limited", requestId: "req_1" }, 1_000);

  expect(asked()).toEqual([
    {
      TableName: "records",
      Key: { messageId: "order-1001" },
      ConditionExpression: "#owner = :owner AND #status = :inProgress",
      UpdateExpression: "SET leaseExpiresAt = :expired, lastError = :error",
      ExpressionAttributeNames: { "#owner": "owner", "#status": "status" },
      ExpressionAttributeValues: {
        ":owner": "owner-1",
        ":inProgress": "IN_PROGRESS",
        ":expired": 0,
        ":error": { kind: "stripe_rate_limited", requestId: "req_1" },
      },
    },
  ]);
});

test("releasing a claim that was lost is no error", async () => {
  dynamo.on(UpdateCommand).rejects(failedCheck());

  await expect(records.release(record, { kind: "unexpected" }, 1_000)).resolves.toBeUndefined();
});

test.each<[string, unknown, code: string]>([
  [
    "that did not answer",
    new ProvisionedThroughputExceededException({ message: "slow down", $metadata: {} }),
    "ProvisionedThroughputExceededException",
  ],
  ["whose record vanished under the failed condition", failedCheck(), "RecordVanished"],
  ["that fails without an error", undefined, "unknown"],
])("a table %s is an error by name, and left to the next delivery", async (_, cause, code) => {
  dynamo.on(PutCommand).callsFake(() => Promise.reject(cause));

  await expect(records.claim(record, 1_000)).rejects.toMatchObject({ name: "TableError", code });
});

const LOST = { outcome: { result: "declined", code: "lost" }, completedAt: 1 } as const;

test.each([
  ["claim", () => records.claim(record, 1_234)],
  ["takeover", () => records.takeOver(record, { ...record, owner: "owner-2" }, 1_234)],
  ["complete", () => records.complete(record, LOST, 1_234)],
  ["release", () => records.release(record, { kind: "unexpected" }, 1_234)],
])("a %s ends with the time that it is given, the SDK's retries included", async (_what, ask) => {
  dynamo.resolves({});
  const timeout = vi.spyOn(globalThis, "setTimeout");

  await ask();

  expect(timeout.mock.calls.map(([, ms]) => ms)).toEqual([1_234]);
  expect(dynamo.calls()[0]?.args).toEqual([
    expect.anything(),
    { abortSignal: expect.any(AbortSignal) },
  ]);
});
