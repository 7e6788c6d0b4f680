// The door for HTTP: a client that times out and retries pays once, whatever happens between the
// record and the message.

import { randomUUID } from "node:crypto";

import type { APIGatewayProxyEventV2 } from "aws-lambda";
import { expect, test } from "vitest";

import { createSqs } from "../../lib/aws/clients.ts";
import { recordReader } from "../../lib/aws/read-record.ts";
import { recordsTable } from "../../lib/aws/records-table.ts";
import { messageSender } from "../../lib/aws/send-message.ts";
import { createApiHandler } from "../../lib/lambda/api-handler.ts";
import type { LogLine } from "../../lib/lambda/emf.ts";
import { payment, START, startWorker } from "../support/worker.ts";

const { id: _id, createdAt: _createdAt, ...PAYMENT } = payment();
const KEY = { "idempotency-key": "order-1001", "content-type": "application/json" };

type Answer = { status: number; headers: Record<string, unknown>; body: Record<string, unknown> };

/** A worker, and the API on the same table and queue. */
async function prepare() {
  const worker = await startWorker();
  const { queue, queueUrl, timings, clock, aws, documents: dynamoDb } = worker;
  const records = recordsTable(dynamoDb, "records");
  const lines: LogLine[] = [];
  const handle = createApiHandler({
    claim: (record) => records.claim(record, 3_000),
    send: messageSender(createSqs({ ...aws, endpoint: queue.url }), queueUrl, 3_000),
    read: recordReader(dynamoDb, "records", 3_000),
    limits: timings,
    functionName: "payment-api",
    now: () => clock.now,
    newOwner: randomUUID,
    write: (line) => lines.push(line),
  });
  const call = async (
    method: string,
    rawPath: string,
    headers: Record<string, string> = {},
    body?: unknown,
    caller?: string,
  ): Promise<Answer> => {
    const event = {
      rawPath,
      headers,
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
      isBase64Encoded: false,
      requestContext: {
        requestId: "request-1",
        http: { method },
        ...(caller && { authorizer: { jwt: { claims: { sub: caller } } } }),
      },
    } as unknown as APIGatewayProxyEventV2;
    const { statusCode = 0, headers: answered = {}, body: text = "" } = await handle(event);
    return {
      status: statusCode,
      headers: answered,
      body: JSON.parse(text) as Record<string, unknown>,
    };
  };
  return {
    ...worker,
    lines,
    call,
    post: (body: unknown = PAYMENT, headers: Record<string, string> = KEY, caller?: string) =>
      call("POST", "/payments", headers, body, caller),
    get: (id: string, caller?: string) =>
      call("GET", `/payments/${encodeURIComponent(id)}`, {}, undefined, caller),
    /** How many messages wait in the queue. */
    waiting: async () => (await queue.depth(queueUrl)).visible,
  };
}

test("a payment is accepted, made by the worker, and its status reported", async () => {
  const { post, get, receive, stripe } = await prepare();
  const accepted = await post();
  expect(accepted).toEqual({
    status: 202,
    headers: {
      "content-type": "application/json",
      "cache-control": "no-store",
      location: "/payments/order-1001",
      "retry-after": "2",
      "idempotency-key-expires": "Sun, 03 Jan 2027 12:00:00 GMT", // 35 days
    },
    body: { id: "order-1001", status: "accepted", amount: 1200, currency: "eur", revision: 0 },
  });
  expect((await receive()).lines[0]).toMatchObject({ decision: "completed", attempt: 1 });
  expect(await get("order-1001")).toMatchObject({
    status: 200,
    body: { id: "order-1001", status: "succeeded", revision: 1 },
  });
  expect(stripe.ledger.chargesFor("order-1001")).toHaveLength(1);
});

test("a repeat gets the same, says so, and sends the message again until there is an outcome", async () => {
  const { post, waiting, receive, stripe, table } = await prepare();
  const first = await post();
  const again = await post(Object.fromEntries(Object.entries(PAYMENT).toReversed()));
  expect(again.body).toEqual(first.body);
  expect(again.headers).toEqual({ ...first.headers, "idempotent-replayed": "true" });
  expect(await waiting()).toBe(2);
  await receive();
  const done = await post(PAYMENT, { ...KEY, "idempotency-key": '"order-1001"' });
  expect(done).toMatchObject({ status: 202, body: { status: "succeeded", revision: 1 } });
  expect(done.headers).not.toHaveProperty("retry-after");
  expect(await waiting()).toBe(0);
  expect(stripe.ledger.charges()).toHaveLength(1);
  expect(table.counts()["PutItem"]).toBeGreaterThan(0);
});

test("a crash between the record and the message costs nothing: the client's retry sends it", async () => {
  const { post, waiting, receive, queue, stripe } = await prepare();
  queue.faults.add({ operation: "SendMessage", times: 3 }, { kind: "dropBefore" });
  const failed = await post();
  expect(failed).toMatchObject({
    status: 503,
    headers: { "retry-after": "5", "content-type": "application/problem+json" },
    body: { type: "urn:payment-worker:problem:unavailable", status: 503 },
  });
  expect(await waiting()).toBe(0);
  expect((await post()).status).toBe(202);
  await receive();
  expect(stripe.ledger.charges()).toHaveLength(1);
});

test("the message of a later retry travels with the time of the first acceptance", async () => {
  const { post, queue, queueUrl, clock } = await prepare();
  await post();
  clock.now = START + 26 * 3_600_000;
  await post();
  const bodies = (await queue.messages(queueUrl)).map(
    ({ body }) => JSON.parse(body) as Record<string, unknown>,
  );
  expect(bodies).toHaveLength(2);
  for (const body of bodies) {
    expect(body).toEqual({ id: "order-1001", createdAt: "2026-11-29T12:00:00.000Z", ...PAYMENT });
  }
});

test("the key with another payment is a 422 at the door, and never sent", async () => {
  const { post, waiting } = await prepare();
  await post();
  for (const change of [{ amount: 1300 }, { customer: "cus_bob" }, { metadata: { a: "b" } }]) {
    expect(await post({ ...PAYMENT, ...change })).toMatchObject({
      status: 422,
      body: { type: "urn:payment-worker:problem:key-reused" },
    });
  }
  expect(await waiting()).toBe(1);
});

test("an invalid payment is not remembered: its key stays new", async () => {
  const { post, record, waiting } = await prepare();
  expect((await post({ ...PAYMENT, amount: 12.5 })).status).toBe(422);
  expect(await record("order-1001")).toBeUndefined();
  expect(await waiting()).toBe(0);
  expect((await post()).status).toBe(202);
});

test("twenty clients at once with one key make one charge", async () => {
  const { post, receive, stripe } = await prepare();
  const answers = await Promise.all(Array.from({ length: 20 }, () => post()));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
  expect(answers.filter(({ headers }) => !("idempotent-replayed" in headers))).toHaveLength(1);
  await receive();
  await receive();
  expect(stripe.ledger.charges()).toHaveLength(1);
});

test("two callers with one key are two payments, and neither sees the other's", async () => {
  const { post, get, receive, stripe } = await prepare();
  expect((await post(PAYMENT, KEY, "alice")).body).toMatchObject({ id: "order-1001" });
  expect((await post({ ...PAYMENT, amount: 99 }, KEY, "bob")).status).toBe(202);
  expect((await get("order-1001", "carol")).status).toBe(404);
  expect((await get("order-1001", "bob")).body).toMatchObject({ amount: 99 });
  await receive();
  expect(
    stripe.ledger
      .charges()
      .map(({ messageId }) => String(messageId))
      .toSorted((a, b) => (a < b ? -1 : 1)),
  ).toEqual(["alice/order-1001", "bob/order-1001"]);
});

test("no payment is accepted while the table is away", async () => {
  const { post, get, table, waiting, lines } = await prepare();
  table.faults.add({ times: 6 }, { kind: "dropBefore" });
  expect((await post()).status).toBe(503);
  expect((await get("order-1001")).status).toBe(503);
  expect(await waiting()).toBe(0);
  expect(lines).toMatchObject([
    { level: "ERROR", message: "POST 503", code: "TimeoutError" },
    { level: "ERROR", message: "GET 503", code: "TimeoutError" },
  ]);
});

test("a damaged record is a 503 whose log line has a cause: an operator repairs it", async () => {
  const { post, table, waiting, lines } = await prepare();
  await post();
  const { firstClaimedAt: _, ...damaged } = (await table.item("records", "order-1001")) ?? {};
  table.put("records", damaged);

  expect((await post()).status).toBe(503);

  expect(lines.at(-1)).toMatchObject({ level: "ERROR", code: "RangeError" });
  expect(await waiting()).toBe(1);
});
