// The bench's table has to judge conditions as DynamoDB does, or the comparison is worth nothing.

import { expect, test } from "vitest";

import { holds, updated } from "../../bench/condition.ts";
import { createTable } from "../../bench/table.ts";

// Powertools' own condition, as it sends it.
const POWERTOOLS =
  "attribute_not_exists(#id) OR #expiry < :now OR (#status = :inprogress AND attribute_exists(#in_progress_expiry) AND #in_progress_expiry < :now_in_millis)";
const NAMES = {
  "#id": "messageId",
  "#expiry": "expiration",
  "#status": "status",
  "#in_progress_expiry": "in_progress_expiration",
};
const VALUES = {
  ":now": { N: "1000" },
  ":now_in_millis": { N: "1000000" },
  ":inprogress": { S: "INPROGRESS" },
};
const claimed = (lapsesAt: string) => ({
  messageId: { S: "order-1" },
  status: { S: "INPROGRESS" },
  expiration: { N: "9000" },
  in_progress_expiration: { N: lapsesAt },
});

test.each([
  { name: "no record", item: undefined, expected: true },
  { name: "a claim that has expired", item: claimed("999999"), expected: true },
  { name: "a claim that is live", item: claimed("1000001"), expected: false },
  {
    name: "an outcome",
    item: { ...claimed("999999"), status: { S: "COMPLETED" } },
    expected: false,
  },
  {
    name: "an outcome that has expired",
    item: { ...claimed("999999"), status: { S: "COMPLETED" }, expiration: { N: "999" } },
    expected: true,
  },
])("Powertools' condition on $name is $expected", ({ item, expected }) => {
  expect(holds(POWERTOOLS, item, NAMES, VALUES)).toBe(expected);
});

test("an update sets and removes attributes and leaves the others", () => {
  const item = { messageId: { S: "order-1" }, owner: { S: "a" }, lastError: { S: "timeout" } };

  const after = updated(
    "SET #status = :completed, attempt = :attempt REMOVE lastError",
    item,
    { "#status": "status" },
    { ":completed": { S: "COMPLETED" }, ":attempt": { N: "2" } },
  );

  expect(after).toEqual({
    messageId: { S: "order-1" },
    owner: { S: "a" },
    status: { S: "COMPLETED" },
    attempt: { N: "2" },
  });
});

test("a put whose condition fails changes nothing and answers with the old item when asked to", () => {
  const table = createTable();
  const put = (owner: string) => ({
    Item: { messageId: { S: "order-1" }, owner: { S: owner } },
    ConditionExpression: "attribute_not_exists(messageId)",
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  });
  table("PutItem", JSON.stringify(put("first")));

  const second = table("PutItem", JSON.stringify(put("second")));

  expect(second.status).toBe(400);
  expect(JSON.parse(second.body)).toMatchObject({ Item: { owner: { S: "first" } } });
  const read = table("GetItem", JSON.stringify({ Key: { messageId: { S: "order-1" } } }));
  expect(JSON.parse(read.body)).toMatchObject({ Item: { owner: { S: "first" } } });
});
