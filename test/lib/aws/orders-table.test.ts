import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand } from "@aws-sdk/lib-dynamodb";
import { mockClient } from "aws-sdk-client-mock";
import { expect, onTestFinished, test } from "vitest";

import { ordersTable } from "../../../lib/aws/orders-table.ts";
import { startTable } from "../../../local/table/server.ts";
import { ORDER, PAID } from "../../support/orders.ts";

const SETTINGS = { eventTtlMs: 35 * 86_400_000, timeoutMs: 5_000, now: () => 1_795_980_729_855 };

test("an order that was placed a moment ago is found: the read is consistent", async () => {
  const client = DynamoDBDocumentClient.from(new DynamoDBClient({ region: "eu-west-1" }));
  const mock = mockClient(client); // this one alone: other tests share the class
  mock.on(GetCommand).resolves({ Item: { pk: "order#order-1", ...ORDER } });

  expect(await ordersTable(client, "orders", SETTINGS).find("order-1")).toMatchObject(ORDER);

  expect(mock.commandCalls(GetCommand)[0]?.args[0].input).toEqual({
    TableName: "orders",
    Key: { pk: "order#order-1" },
    ConsistentRead: true,
  });
});

test.each([{ sku: "coffee" }, { quantity: 1 }])(
  "an order that has changed since it was read with %j is not shipped",
  async (read) => {
    const table = await startTable();
    onTestFinished(() => table.stop());
    table.createTable("orders", "pk", "expiresAt");
    table.put("orders", { pk: "order#order-1", ...ORDER });
    for (const sku of ["tea", "coffee"]) table.put("orders", { pk: `sku#${sku}`, sku, onHand: 5 });
    const client = new DynamoDBClient({
      endpoint: table.url,
      region: "us-east-1",
      credentials: { accessKeyId: "local", secretAccessKey: "local" },
    });
    onTestFinished(() => client.destroy());
    const orders = ordersTable(DynamoDBDocumentClient.from(client), "orders", SETTINGS);

    const canceled = await orders.apply("shipped", PAID, { ...ORDER, ...read });

    expect(canceled?.map(({ code }) => code)).toEqual([
      "None",
      "ConditionalCheckFailed",
      "None",
      "None",
      "None",
      "None",
    ]);
    expect(await table.items("orders")).toHaveLength(3);
  },
);
