// With a mocked client: what is read from a table, how consistently, and in which time.

import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand, ScanCommand } from "@aws-sdk/lib-dynamodb";
import { mockClient } from "aws-sdk-client-mock";
import { beforeEach, expect, test, vi } from "vitest";

import { ordersTable } from "../../../lib/aws/orders-table.ts";
import { recordReader } from "../../../lib/aws/read-record.ts";
import { recordScanner } from "../../../lib/aws/scan-records.ts";
import { ORDER, PAID } from "../../support/orders.ts";

const client = DynamoDBDocumentClient.from(new DynamoDBClient({ region: "us-east-1" }));
const dynamo = mockClient(client);
beforeEach(() => dynamo.reset());

const orders = ordersTable(client, "orders", { eventTtlMs: 0, timeoutMs: 1_234, now: () => 0 });

test.each<[string, (id: string) => Promise<unknown>, TableName: string, Key: object]>([
  ["record", recordReader(client, "records", 1_234), "records", { messageId: "order-1" }],
  ["order", (id) => orders.find(id), "orders", { pk: "order#order-1" }],
])("a %s is read as it is now, within its time", async (_, read, TableName, Key) => {
  dynamo.on(GetCommand).resolves({ Item: { status: "pending" } });
  const timeout = vi.spyOn(globalThis, "setTimeout");

  expect(await read("order-1")).toEqual({ status: "pending" });

  expect(timeout.mock.calls.map(([, ms]) => ms)).toEqual([1_234]);
  expect(dynamo.calls().map(({ args }) => args)).toEqual([
    [
      expect.objectContaining({ input: { TableName, Key, ConsistentRead: true } }),
      { abortSignal: expect.any(AbortSignal) },
    ],
  ]);
});

test("a transaction ends with the time that it is given, the SDK's retries included", async () => {
  dynamo.resolves({});
  const timeout = vi.spyOn(globalThis, "setTimeout");

  expect(await orders.apply("noted", PAID, ORDER)).toBeUndefined();

  expect(timeout.mock.calls.map(([, ms]) => ms)).toEqual([1_234]);
  expect(dynamo.calls()[0]?.args).toEqual([
    expect.anything(),
    { abortSignal: expect.any(AbortSignal) },
  ]);
});

const WINDOW = {
  FilterExpression: "firstClaimedAt BETWEEN :since AND :until",
  ExpressionAttributeValues: { ":since": 1, ":until": 9 },
};
const UNFINISHED = {
  FilterExpression: `${WINDOW.FilterExpression} OR #status = :inProgress OR outcome.#result IN (:processing, :action)`,
  ExpressionAttributeNames: { "#status": "status", "#result": "result" },
  ExpressionAttributeValues: {
    ...WINDOW.ExpressionAttributeValues,
    ":inProgress": "IN_PROGRESS",
    ":processing": "processing",
    ":action": "requires_action",
  },
};

test.each([
  [false, WINDOW],
  [true, UNFINISHED],
])(
  "a scan with unfinished: %j reads every page, each within its time",
  async (unfinished, asked) => {
    const record = (messageId: string) => ({ messageId, firstClaimedAt: 5, leaseExpiresAt: 0 });
    const more = {
      outcome: { result: "succeeded", paymentIntentId: "pi_1" },
      amount: 1250,
      currency: "eur",
    };
    dynamo
      .on(ScanCommand)
      .resolvesOnce({ Items: [record("a")], LastEvaluatedKey: { messageId: "a" } })
      .resolvesOnce({ LastEvaluatedKey: { messageId: "b" } }) // all of them filtered out
      .resolves({ Items: [{ ...record("c"), ...more, owner: "not compared" }] });
    const timeout = vi.spyOn(globalThis, "setTimeout");

    const entries: object[] = [];
    const scan = recordScanner(client, "records", 1_234);
    for await (const entry of scan({ since: 1, until: 9 }, { unfinished })) entries.push(entry);

    expect(entries).toStrictEqual([
      { what: "record", ...record("a") },
      { what: "record", ...record("c"), ...more },
    ]);
    const page = {
      TableName: "records",
      ProjectionExpression: "messageId, firstClaimedAt, leaseExpiresAt, outcome, amount, currency",
      ...asked,
    };
    expect(dynamo.calls().map(({ args: [{ input }] }) => input)).toStrictEqual([
      page,
      { ...page, ExclusiveStartKey: { messageId: "a" } },
      { ...page, ExclusiveStartKey: { messageId: "b" } },
    ]);
    expect(dynamo.calls()[0]?.args).toEqual([
      expect.anything(),
      { abortSignal: expect.any(AbortSignal) },
    ]);
    expect(timeout.mock.calls.map(([, ms]) => ms)).toEqual([1_234, 1_234, 1_234]);
  },
);
