import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { expect, onTestFinished, test } from "vitest";

import { ordersTable } from "../../../lib/aws/orders-table.ts";
import { startTable } from "../../../local/table/server.ts";
import { ORDER, PAID } from "../../support/orders.ts";

const SETTINGS = { eventTtlMs: 35 * 86_400_000, timeoutMs: 5_000, now: () => 1_795_980_729_855 };

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
