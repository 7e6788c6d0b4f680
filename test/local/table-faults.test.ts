import { DeleteCommand, PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { expect, test } from "vitest";

import { startTable } from "../../local/table/server.ts";
import type { TableServer } from "../../local/table/server.ts";
import { failureOf, startedTable, tableClient } from "./aws-fixture.ts";

/** Longer than any test may take: what waits for this is never waited for. */
const NEVER_MS = 3_600_000;

const put = (messageId = "m-1", owner = "a") =>
  new PutCommand({
    TableName: "records",
    Item: { messageId, owner },
    ConditionExpression: "attribute_not_exists(messageId)",
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  });

const stored = (table: TableServer) => table.item("records", "m-1");

/** The signature that dynalite wants to see, for a test that reads the bytes of the answer itself. */
function rawPut(table: TableServer, signal: AbortSignal): Promise<Response> {
  return fetch(table.url, {
    method: "POST",
    signal,
    headers: {
      "content-type": "application/x-amz-json-1.0",
      "x-amz-target": "DynamoDB_20120810.PutItem",
      "x-amz-date": "20260301T120000Z",
      authorization: "AWS4-HMAC-SHA256 Credential=a, SignedHeaders=host, Signature=0",
    },
    body: JSON.stringify({ TableName: "records", Item: { messageId: { S: "m-1" } } }),
  });
}

test("dropBefore cuts the connection and applies nothing", async () => {
  const { table, client } = await startedTable();
  const fault = table.faults.add({ operation: "PutItem" }, { kind: "dropBefore" });

  const failure = await failureOf(client.send(put()));

  expect(failure["code"]).toBe("ECONNRESET");
  expect(await stored(table)).toBeUndefined();
  expect(fault.happened()).toBe(1);
  expect(table.requests()).toMatchObject([{ operation: "PutItem", result: "dropped" }]);
});

test("dropAfter applies the request and cuts the connection", async () => {
  const { table, client } = await startedTable();
  const fault = table.faults.add({ operation: "PutItem" }, { kind: "dropAfter" });

  const failure = await failureOf(client.send(put()));

  expect(failure["code"]).toBe("ECONNRESET");
  expect(await stored(table)).toEqual({ messageId: "m-1", owner: "a" });
  expect(fault.happened()).toBe(1);
  expect(table.requests()).toMatchObject([{ operation: "PutItem", result: "ok" }]);
});

test("an SDK that retries a put whose reply was lost is shown its own item", async () => {
  const { table } = await startedTable();
  const client = tableClient(table.url, { maxAttempts: 2 });
  table.faults.add({ operation: "PutItem" }, { kind: "dropAfter" });

  const failure = await failureOf(client.send(put("m-1", "me")));

  expect(failure.name).toBe("ConditionalCheckFailedException");
  expect(failure["Item"]).toEqual({ messageId: { S: "m-1" }, owner: { S: "me" } });
  expect(table.counts()).toEqual({ PutItem: 2 });
});

test("delayBefore applies the request late, although the client has given up", async () => {
  const { table, client } = await startedTable();
  table.faults.add({}, { kind: "delayBefore", ms: 800 });
  const givingUp = new AbortController();
  const call = client.send(put(), { abortSignal: givingUp.signal });

  await expect.poll(() => table.requests()).toHaveLength(1);
  const early = await stored(table);
  givingUp.abort();
  const failure = await failureOf(call);

  expect(early).toBeUndefined();
  expect(failure.name).toBe("AbortError");
  await expect
    .poll(() => stored(table), { timeout: 10_000 })
    .toEqual({ messageId: "m-1", owner: "a" });
});

test("delayAfter applies the request at once and answers late", async () => {
  const { table, client } = await startedTable();
  table.faults.add({ messageId: "m-1" }, { kind: "delayAfter", ms: NEVER_MS });
  const givingUp = new AbortController();
  let answered = false;
  const call = client.send(put(), { abortSignal: givingUp.signal }).then(() => (answered = true));

  await expect.poll(() => stored(table)).toEqual({ messageId: "m-1", owner: "a" });
  await client.send(put("m-2"));

  expect(answered).toBe(false);
  givingUp.abort();
  await failureOf(call);
});

test("a delayed answer is the whole answer", async () => {
  const { table, client } = await startedTable();
  table.faults.add({}, { kind: "delayAfter", ms: 5 });
  table.faults.add({}, { kind: "slowBody", ms: 5 });

  const updated = await client.send(
    new UpdateCommand({
      TableName: "records",
      Key: { messageId: "m-1" },
      UpdateExpression: "SET #o = :o",
      ExpressionAttributeNames: { "#o": "owner" },
      ExpressionAttributeValues: { ":o": "é" },
      ReturnValues: "ALL_NEW",
    }),
  );

  expect(updated.Attributes).toEqual({ messageId: "m-1", owner: "é" });
});

test("slowBody sends the headers at once and keeps the end of the body back", async () => {
  const { table, client } = await startedTable();
  table.faults.add({}, { kind: "slowBody", ms: NEVER_MS });
  const givingUp = new AbortController();
  let ended = false;

  const response = await rawPut(table, givingUp.signal);
  const reader = response.body?.getReader();
  const first = await reader?.read();
  const rest = reader?.read().then(() => (ended = true));
  await client.send(put("m-2"));

  expect(response.status).toBe(200);
  expect(Buffer.from(first?.value ?? []).toString()).toBe("{");
  expect(ended).toBe(false);
  expect(await stored(table)).toEqual({ messageId: "m-1" });
  givingUp.abort();
  await failureOf(rest ?? Promise.resolve());
});

test.for([
  { status: 500, code: "InternalServerError" },
  { status: 400, code: "ProvisionedThroughputExceededException" },
  { status: 400, code: "ThrottlingException" },
])("a request refused with $code is not applied", async ({ status, code }) => {
  const { table, client } = await startedTable();
  table.faults.add({}, { kind: "refuse", status, code, message: "Not now." });

  const failure = await failureOf(client.send(put()));

  expect(failure).toMatchObject({
    name: code,
    message: "Not now.",
    $metadata: { httpStatusCode: status },
  });
  expect(await stored(table)).toBeUndefined();
  expect(table.requests()).toMatchObject([{ operation: "PutItem", result: code }]);
});

test.for([
  { status: 500, code: "InternalServerError" },
  { status: 400, code: "ProvisionedThroughputExceededException" },
  { status: 400, code: "ThrottlingException" },
])("the SDK takes $code for a reason to try again", async ({ status, code }) => {
  const { table } = await startedTable();
  const client = tableClient(table.url, { maxAttempts: 2 });
  table.faults.add({}, { kind: "refuse", status, code, message: "Not now." });

  await client.send(put());

  expect(table.requests().map(({ result }) => result)).toEqual([code, "ok"]);
});

test("a hook at received runs before the request is applied, one at applied before the answer", async () => {
  const { table, client } = await startedTable();
  const events: unknown[] = [];
  table.faults.add(
    {},
    {
      kind: "hook",
      at: "received",
      run: async (seen) => void events.push("received", seen.messageId, await stored(table)),
    },
  );
  table.faults.add(
    {},
    {
      kind: "hook",
      at: "applied",
      run: async (seen) => void events.push("applied", seen.result, await stored(table)),
    },
  );

  await client.send(put());
  events.push("answered");

  expect(events).toEqual([
    "received",
    "m-1",
    undefined,
    "applied",
    "ok",
    { messageId: "m-1", owner: "a" },
    "answered",
  ]);
});

test("a fault hits only the requests that match all of its conditions", async () => {
  const { table, client } = await startedTable();
  const refuse = { kind: "refuse", status: 500, code: "InternalServerError", message: "" } as const;
  const match = { operation: "PutItem", messageId: "m-2", times: Infinity };
  const never = table.faults.add({ ...match, where: () => false }, refuse);
  const fault = table.faults.add({ ...match, where: () => true }, refuse);

  await client.send(put("m-1"));
  await client.send(new DeleteCommand({ TableName: "records", Key: { messageId: "m-2" } }));
  const failure = await failureOf(client.send(put("m-2")));

  expect(failure.name).toBe("InternalServerError");
  expect(fault.happened()).toBe(1);
  expect(never.happened()).toBe(0);
});

test("a fault happens as often as it was told to: once, so many times, or until it is removed", async () => {
  const { table, client } = await startedTable();
  const drop = { kind: "dropBefore" } as const;
  const once = table.faults.add({ messageId: "once" }, drop);
  const twice = table.faults.add({ messageId: "twice", times: 2 }, drop);
  const always = table.faults.add({ messageId: "always", times: Infinity }, drop);
  const tries = async (messageId: string) => {
    const results: string[] = [];
    for (let attempt = 0; attempt < 4; attempt += 1) {
      if (attempt === 3) always.remove();
      results.push(
        await client.send(put(messageId)).then(
          () => "ok",
          (error: Error) => (error.name === "ConditionalCheckFailedException" ? "ok" : "cut"),
        ),
      );
    }
    return results;
  };

  const outcomes = [await tries("always"), await tries("twice"), await tries("once")];

  expect(outcomes).toEqual([
    ["cut", "cut", "cut", "ok"],
    ["cut", "cut", "ok", "ok"],
    ["cut", "ok", "ok", "ok"],
  ]);
  expect([always.happened(), twice.happened(), once.happened()]).toEqual([3, 2, 1]);
});

test("after removeAll nothing is left armed", async () => {
  const { table, client } = await startedTable();
  const fault = table.faults.add({ times: Infinity }, { kind: "dropBefore" });

  table.faults.removeAll();
  await client.send(put());

  expect(fault.happened()).toBe(0);
});

test("a fault behind one that ended the exchange has not happened, and is still armed", async () => {
  const { table, client } = await startedTable();
  const first = table.faults.add({}, { kind: "dropBefore" });
  const second = table.faults.add({}, { kind: "dropBefore" });
  const third = table.faults.add({}, { kind: "dropAfter" });

  const happened: number[][] = [];
  for (let attempt = 0; attempt < 3; attempt += 1) {
    await failureOf(client.send(put()));
    happened.push([first.happened(), second.happened(), third.happened()]);
  }

  expect(happened).toEqual([
    [1, 0, 0],
    [1, 1, 0],
    [1, 1, 1],
  ]);
  expect(await stored(table)).toEqual({ messageId: "m-1", owner: "a" });
});

test("what a hook throws comes out of stop", async () => {
  const table = await startTable();
  await table.createRecordsTable("records");
  table.faults.add(
    {},
    {
      kind: "hook",
      at: "received",
      run: () => {
        throw new Error("The assertion in the hook failed.");
      },
    },
  );

  await failureOf(tableClient(table.url).send(put()));

  expect((await failureOf(table.stop())).message).toBe("The assertion in the hook failed.");
});

test("stop does not wait for a delay or for a hook that never ends", async () => {
  const table = await startTable();
  await table.createRecordsTable("records");
  const client = tableClient(table.url);
  table.faults.add({ messageId: "m-1" }, { kind: "delayBefore", ms: NEVER_MS });
  table.faults.add(
    { messageId: "m-2" },
    { kind: "hook", at: "applied", run: () => new Promise(() => {}) },
  );
  const calls = Promise.all([
    failureOf(client.send(put("m-1"))),
    failureOf(client.send(put("m-2"))),
  ]);
  await expect.poll(() => table.item("records", "m-2")).toBeDefined();
  await expect.poll(() => table.requests()).toHaveLength(2);

  await table.stop();

  expect((await calls).map((failure) => failure["code"])).toEqual(["ECONNRESET", "ECONNRESET"]);
});
