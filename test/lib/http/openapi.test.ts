// docs/openapi.json against the handler: each answer is in the document, and each in the document is
// an answer.
import { readFileSync } from "node:fs";

import { Ajv2020 } from "ajv/dist/2020.js";
import type { APIGatewayProxyEventV2 } from "aws-lambda";
import { expect, test } from "vitest";

import { createApiHandler } from "../../../lib/lambda/api-handler.ts";
import { TableError } from "../../../lib/payments/claim.ts";
import type { IdempotencyRecord, Outcome } from "../../../lib/payments/record.ts";
import { claimed } from "../../support/record.ts";

type Response = {
  headers?: Record<string, { $ref: string }>;
  content: Record<string, object>;
  "x-answered-by"?: string;
};
type Operation = { responses: Record<string, Response> };
type Document = {
  paths: Record<string, Record<string, Operation>>;
  components: {
    headers: Record<string, { required?: boolean; schema: object }>;
    schemas: Record<string, { properties: Record<string, { enum?: string[] }> }>;
  };
};

const TEXT = readFileSync(new URL("../../../docs/openapi.json", import.meta.url), "utf8");
const DOCUMENT = JSON.parse(TEXT) as Document;
const ajv = new Ajv2020({ strict: false, allErrors: true });
ajv.addSchema(DOCUMENT, "openapi");

const pointer = (...path: string[]) =>
  `openapi#/${path.map((one) => encodeURIComponent(one.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/")}`;

/** What is wrong with a value, by the schema at this place of the document. */
function errorsOf(value: unknown, ...path: string[]) {
  const validate = ajv.getSchema(pointer(...path));
  if (!validate) throw new Error(`No schema at ${path.join("/")}`);
  void validate(value);
  return validate.errors ?? [];
}

const PAYMENT = { amount: 1250, currency: "eur", customer: "cus_1", paymentMethod: "pm_1" };
const KEY = { "idempotency-key": "order-1", "content-type": "application/json" };
const DAY_MS = 86_400_000;
const NOW = Date.parse("2026-11-30T12:00:00Z");

const RECORD = claimed({
  owner: "owner",
  attempt: 0,
  firstClaimedAt: NOW,
  amount: 1250,
  currency: "eur",
  expiresAt: NOW / 1_000 + 3_024_000,
});
const after = (outcome: Outcome): Partial<IdempotencyRecord> => ({
  status: "COMPLETED",
  attempt: 1,
  outcome,
  revision: 1,
});

/** A payment of so many bytes, of which an é takes two. */
function ofBytes(bytes: number): object {
  const least = Buffer.byteLength(JSON.stringify({ ...PAYMENT, description: "é" }));
  return { ...PAYMENT, description: `é${"x".repeat(bytes - least)}` };
}

type Case = {
  name: string;
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: unknown;
  /** What stands under the key. */
  record?: Partial<IdempotencyRecord>;
  /** What table and queue fail with. */
  away?: unknown;
  base64?: boolean;
  /** The status code, and the problem's name or the payment's status. */
  answer: string;
};

const AWAY = new TypeError("the payment 4242");
const GET = { method: "GET", path: "/payments/order-1" };
const pi = { paymentIntentId: "pi_1" };

const NO_TYPE = { "idempotency-key": "a" };
const of = (name: string, answer: string, more: Partial<Case> = {}): Case => ({
  name,
  answer,
  ...more,
});
const read = (answer: string, record?: Partial<IdempotencyRecord>): Case =>
  of(answer, answer, { ...GET, ...(record && { record }) });
const LOST_CARD = { code: "card_declined", declineCode: "lost_card" };
const REJECTED = { kind: "stripe_rejected", code: "resource_missing" } as const;

/** Every answer that the handler has. */
const CASES: Case[] = [
  of("a payment", "202 accepted"),
  of("a repeat", "202 accepted", { record: {} }),
  of("a repeat later", "202 working", { record: { attempt: 1, leaseExpiresAt: 9e15 } }),
  of("a repeat when paid", "202 succeeded", { record: after({ result: "succeeded", ...pi }) }),
  ...(["succeeded", "processing", "requires_action", "canceled"] as const).map((result) =>
    read(`200 ${result}`, after({ result, ...pi })),
  ),
  read("200 declined", after({ result: "declined", ...pi, ...LOST_CARD })),
  read("200 failed", after({ result: "failed", ...pi, code: "debit_not_authorized" })),
  read("200 rejected", { attempt: 1, lastError: REJECTED }),
  of("no key", "400 idempotency-key-missing", {
    headers: { "content-type": "application/json" },
  }),
  of("two keys", "400 idempotency-key-invalid", { headers: { ...KEY, "idempotency-key": "a,b" } }),
  of("no type", "415 unsupported-media-type", { headers: NO_TYPE }),
  ...["text/plain", "text/application/json", "application/json5"].map((type) =>
    of(type, "415 unsupported-media-type", { headers: { ...KEY, "content-type": type } }),
  ),
  of("a type with a charset", "202 accepted", {
    headers: { ...KEY, "content-type": " Application/JSON; charset=utf-8" },
  }),
  of("65,536 bytes", "422 invalid-payment", { body: ofBytes(65_536) }),
  of("a byte more", "413 body-too-large", { body: ofBytes(65_537) }),
  of("no payment", "422 invalid-payment", { body: {} }),
  of("another payment", "422 key-reused", { record: { fingerprint: "another" } }),
  of("no table", "503 unavailable", { away: AWAY }),
  of("another method", "405 method-not-allowed", { method: "PUT" }),
  of("an unknown payment", "404 not-found", GET),
  ...["/v1/payments/order-1", "/payments/order-1/", "/payments/%", "/"].map((path) =>
    of(path, "404 not-found", { ...GET, path, record: {} }),
  ),
  of("no table to read", "503 unavailable", { ...GET, away: AWAY }),
  of("another method there", "405 method-not-allowed", { ...GET, method: "DELETE" }),
];

async function answerTo({
  method = "POST",
  path = "/payments",
  headers = KEY,
  body = PAYMENT,
  ...rest
}: Case) {
  const { record, away, base64 = false } = rest;
  const lines: object[] = [];
  const answer = <T>(value: T): Promise<T> =>
    "away" in rest ? Promise.reject(away) : Promise.resolve(value);
  const standing = (fingerprint: string) => record && { ...RECORD, fingerprint, ...record };
  const claimed: IdempotencyRecord[] = [];
  const sent: string[][] = [];
  const handle = createApiHandler({
    claim(ours) {
      claimed.push(ours);
      return answer(standing(ours.fingerprint));
    },
    send(...message) {
      sent.push(message);
      return answer(undefined);
    },
    read: () => answer(standing("")),
    limits: { recordTtlMs: 35 * DAY_MS, maxMessageAgeMs: 30 * DAY_MS, maxSenderAheadMs: DAY_MS },
    functionName: "payment-api",
    now: () => NOW,
    newOwner: () => "new",
    write: (line) => lines.push(line),
  });
  const written = typeof body === "string" ? body : JSON.stringify(body);
  const event = {
    rawPath: path,
    headers,
    body: base64 ? Buffer.from(written ?? "").toString("base64") : written,
    isBase64Encoded: base64,
    requestContext: { requestId: "request-1", http: { method } },
  } as unknown as APIGatewayProxyEventV2;
  const { statusCode = 0, headers: answered = {}, body: text = "" } = await handle(event);
  return {
    statusCode: String(statusCode),
    headers: answered as Record<string, string>,
    body: JSON.parse(text) as Record<string, unknown>,
    lines,
    claimed,
    sent,
  };
}

/** The operation that documents a case: the answer to another method is documented beside the one there is. */
const operationOf = ({ path = "/payments" }: Case): [string, string] =>
  path === "/payments" ? ["/payments", "post"] : ["/payments/{id}", "get"];

test.each(CASES)("the document has the answer to $name: $answer", async (one) => {
  const { statusCode, headers, body } = await answerTo(one);
  const name = String(body["type"] ?? body["status"]).replace("urn:payment-worker:problem:", "");
  expect(`${statusCode} ${name}`).toBe(one.answer);

  const [path, method] = operationOf(one);
  const response = DOCUMENT.paths[path]?.[method]?.responses[statusCode];
  const type = headers["content-type"] ?? "";
  const at = ["paths", path, method, "responses", statusCode, "content", type, "schema"];
  expect(errorsOf(body, ...at)).toEqual([]);
  const schema = type === "application/json" ? "PaymentStatus" : "Problem";
  const known = Object.keys(DOCUMENT.components.schemas[schema]?.properties ?? {});
  expect(Object.keys(body).filter((field) => !known.includes(field))).toEqual([]);

  const documented = Object.entries(response?.headers ?? {}).map(
    ([header, { $ref }]) => [header.toLowerCase(), $ref.split("/").at(-1) ?? ""] as const,
  );
  expect(Object.keys(headers).toSorted()).toEqual(
    ["content-type", ...documented.map(([header]) => header)]
      .filter((header) => header in headers)
      .toSorted(),
  );
  const wrong = documented.flatMap(([header, component]): unknown[] =>
    header in headers
      ? errorsOf(headers[header], "components", "headers", component, "schema")
      : DOCUMENT.components.headers[component]?.required
        ? [`${header} is missing`]
        : [],
  );
  expect(wrong).toEqual([]);
});

test("the document has no answer that the handler never gives", () => {
  const given = new Set(
    CASES.map((one) => [...operationOf(one), one.answer.split(" ")[0]].join(" ")),
  );
  const documented = Object.entries(DOCUMENT.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { responses }]) =>
      Object.entries(responses)
        .filter(([, response]) => response["x-answered-by"] === undefined)
        .map(([status]) => `${path} ${method} ${status}`),
    ),
  );
  expect(new Set(documented)).toEqual(given);

  const names = CASES.map(({ answer }) => answer.split(" ")[1] ?? "");
  const problems = [...TEXT.matchAll(/"urn:payment-worker:problem:([a-z-]+)"/g)].map(
    ([, name]) => name,
  );
  const statuses = DOCUMENT.components.schemas["PaymentStatus"]?.properties["status"]?.enum ?? [];
  expect(new Set([...problems, ...statuses])).toEqual(new Set(names));
});

test.each([
  ["a payment", PAYMENT, true],
  [
    "every field",
    { ...PAYMENT, description: "d", statementDescriptorSuffix: "SHOP", metadata: { a: "b" } },
    true,
  ],
  ["a fraction", { ...PAYMENT, amount: 12.5 }, false],
  ["thirteen digits", { ...PAYMENT, amount: 1_000_000_000_000 }, false],
  ["an unknown field", { ...PAYMENT, amonut: 1 }, false],
  ["an id in the body", { ...PAYMENT, id: "order-1" }, false],
  ["no customer", { ...PAYMENT, customer: undefined }, false],
  ["a number as metadata", { ...PAYMENT, metadata: { a: 1 } }, false],
])("document and handler agree on %s", async (name, body, valid) => {
  const sent = JSON.parse(JSON.stringify(body)) as unknown;
  const { statusCode } = await answerTo({ name, body: sent, answer: "" });
  expect(statusCode).toBe(valid ? "202" : "422");
  expect(errorsOf(sent, "components", "schemas", "Payment").length === 0).toBe(valid);
});

test.each<[Partial<Case>, object]>([
  [{}, { level: "INFO", message: "POST 202", statusCode: 202, Accepted: 1 }],
  [{ record: {} }, { level: "INFO", message: "POST 202", replayed: true, Accepted: 1 }],
  [{ body: {} }, { level: "INFO", message: "POST 422", statusCode: 422, NotAccepted: 1 }],
  ...[
    [AWAY, "TypeError"] as const,
    [new TableError("TimeoutError", undefined), "TimeoutError"] as const,
    ["4242", undefined] as const,
  ].map(([away, code]): [Partial<Case>, object] => [
    { away },
    { level: "ERROR", message: "POST 503", statusCode: 503, ...(code && { code }), Unavailable: 1 },
  ]),
])("each request is a line: %j", async (one, line) => {
  const { lines } = await answerTo({ name: "", answer: "", ...one });
  expect(lines).toMatchObject([
    { timestamp: "2026-11-30T12:00:00.000Z", requestId: "request-1", ...line },
  ]);
  expect(lines[0]).toHaveProperty("replayed", one.record ? true : undefined);
  expect(JSON.stringify(lines)).not.toContain("4242");
});

test.each<[Partial<Case>, detail: string]>([
  [
    { headers: { ...KEY, "idempotency-key": "a,b" } },
    "Send exactly one key; put one that holds a comma in double quotes.",
  ],
  [{ body: ofBytes(65_537) }, "A payment has at most 65536 bytes."],
  ...["id", "createdAt", "specversion", "job", "urn", "meta", "detail-type", "Type"].map(
    (stray): [Partial<Case>, string] => [
      { body: { ...PAYMENT, [stray]: "x" } },
      `${stray} is not a field of a payment at this door.`,
    ],
  ),
  [{ body: " {\n} " }, "amount is required."],
  ...["", "[]", "{amount", `[${JSON.stringify(PAYMENT)}]`].map((body): [Partial<Case>, string] => [
    { body },
    "body must be one JSON object, with no key given two values.",
  ]),
])("a client is told what is wrong, and nothing is claimed: %j", async (one, detail) => {
  const { body, claimed } = await answerTo({ name: "", answer: "", ...one });
  expect(body).toMatchObject({ detail });
  expect(claimed).toEqual([]);
});

test.each([false, true])(
  "a payment is claimed, and sent as its client wrote it; in base64: %j",
  async (base64) => {
    const body = `\n { "amount":1250,"currency":"eur","customer":"cus_1","paymentMethod":"pm_1"}`;
    const { claimed, sent } = await answerTo({ name: "", answer: "", body, base64 });
    expect(claimed).toStrictEqual([
      {
        messageId: "order-1",
        status: "IN_PROGRESS",
        owner: "new",
        leaseExpiresAt: 0,
        attempt: 0,
        firstClaimedAt: 1_796_040_000_000,
        // printf '%s' '{"amount":1250,…,"payment_method":"pm_1"}' | sha256sum
        fingerprint: "a8d048dda41b308d3c903d71adaaa7a86169f55c5446565d2336ff8e94e37d92",
        amount: 1250,
        currency: "eur",
        expiresAt: 1_799_064_000, // 35 days later, in seconds
      },
    ]);
    expect(sent).toEqual([
      [
        `{"id":"order-1","createdAt":"2026-11-30T12:00:00.000Z","amount":1250,"currency":"eur","customer":"cus_1","paymentMethod":"pm_1"}`,
        "cus_1",
      ],
    ]);
  },
);

test("a claim whose reply was lost is no repeat", async () => {
  const { headers, sent } = await answerTo({ name: "", answer: "", record: { owner: "new" } });
  expect(headers).not.toHaveProperty("idempotent-replayed");
  expect(sent).toHaveLength(1);
});

test("what a client reads is counted as no payment", async () => {
  const { lines } = await answerTo({ name: "", answer: "", ...GET, record: {} });
  expect(lines).toMatchObject([{ message: "GET 200", _aws: { CloudWatchMetrics: [] } }]);
});
