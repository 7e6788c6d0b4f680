// Our request handler beside the SDK's own, against servers that misbehave: what either makes of the
// same server is the same, but where a row says otherwise.

import { getEventListeners } from "node:events";
import { readFileSync } from "node:fs";
import { Agent as HttpAgent, createServer } from "node:http";
import type { RequestListener } from "node:http";
import { Agent, createServer as createTlsServer } from "node:https";
import { createServer as createTcpServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";

import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import type { HttpHandlerOptions, HttpRequest } from "@smithy/types";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";

import { createDynamoDb } from "../../../lib/aws/clients.ts";
import { createRequestHandler } from "../../../lib/aws/request-handler.ts";

const credentials = { accessKeyId: "AKIDLOCAL", secretAccessKey: "secret" };
const read = (name: string) => readFileSync(new URL(`../../fixtures/tls/${name}`, import.meta.url));
const identity = { cert: read("certificate.pem"), key: read("key.pem") };

beforeEach(() => {
  caller = new AbortController();
  vi.stubEnv("AWS_REGION", "eu-central-1");
  vi.spyOn(Math, "random").mockReturnValue(0); // the SDK's backoff
});

/** The SDK's own handler, with the settings that ours stands for. */
function theirOptions(timeoutMs: number, httpsAgent?: Agent) {
  return {
    connectionTimeout: timeoutMs,
    requestTimeout: timeoutMs,
    throwOnRequestTimeout: true,
    ...(httpsAgent && { httpsAgent }),
  };
}

const HANDLERS = {
  ours: createRequestHandler,
  theirs: (timeoutMs: number, httpsAgent?: Agent) =>
    new DynamoDBClient({ requestHandler: theirOptions(timeoutMs, httpsAgent) }).config
      .requestHandler as ReturnType<typeof createRequestHandler>,
};

async function listen(server: Server) {
  const sockets: Socket[] = [];
  server.on("connection", (socket) => void sockets.push(socket.on("error", () => {})));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, sockets };
}

const echo: RequestListener = (request, response) => {
  request.pipe(response.writeHead(200, { "x-path": `${request.method} ${request.url}` }));
};

const requestTo = (port: number): HttpRequest => ({
  protocol: "http:",
  hostname: "127.0.0.1",
  port,
  path: "/",
  method: "POST",
  headers: {},
});

type Row = {
  name: string;
  serve?: RequestListener;
  /** What listens instead of an HTTP server with that listener. */
  server?: () => Server;
  request?: Partial<HttpRequest>;
  options?: HttpHandlerOptions;
  /** The handler's time for a try, in ms. */
  within?: number;
  expected: object;
  /** What the SDK's handler makes of it, if that is another thing. */
  theirs?: object;
  /** How many connections the server sees. */
  connections?: number;
};

const NOT_COMPARED = {};
let caller = new AbortController(); // the signal of each test's call is its
const abort = () => caller.abort();
const silentTcp = (connected = () => {}) =>
  createTcpServer((socket) => socket.resume() && connected());
const drop: RequestListener = (request) => request.socket.destroy();
const stall: RequestListener = (_request, response) => void response.writeHead(200).write("{");
const stallAndAbort: RequestListener = (_request, response) =>
  void response.writeHead(200).write("{", abort);
const AGENT = new Agent({ keepAlive: true, ca: identity.cert });

const says =
  (status: number, body: string): RequestListener =>
  (_request, response) =>
    void response.writeHead(status).end(body);
const fine = says(200, "{}");
const silence: RequestListener = () => {};
const typed = (type: string, more: object = {}) =>
  says(400, JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, ...more }));
const cut: RequestListener = (_request, response) => {
  response.writeHead(200, { "content-length": "9" }).write("{", () => response.destroy());
};

const ROWS: Row[] = [
  {
    name: "a string, on a path, from a host in brackets",
    serve: echo,
    request: { body: "ä", path: "/table/", hostname: "[127.0.0.1]" },
    expected: { status: 200, text: "ä", path: "POST /table/" },
  },
  {
    name: "bytes, of which a part is sent",
    serve: echo,
    request: { body: new Uint8Array([65, 66, 67, 68]).subarray(1, 3) },
    expected: { status: 200, text: "BC", path: "POST /" },
  },
  { name: "no body", serve: echo, expected: { status: 200, text: "", path: "POST /" } },
  {
    name: "an error with a reason",
    serve: (_request, response) => response.writeHead(400, "No").end("why"),
    expected: { status: 400, text: "why" },
  },
  {
    name: "a reply in pieces, a header twice",
    serve(_request, response) {
      response.writeHead(
        200,
        [
          ["set-cookie", "a"],
          ["set-cookie", "b"],
          ["x-path", "-"],
        ].flat(),
      );
      response.write(Buffer.from("ä").subarray(0, 1), () => {
        setImmediate(() => response.end(Buffer.from("ä").subarray(1)));
      });
    },
    expected: { status: 200, text: "ä", path: "-", cookie: "a,b" },
  },
  {
    name: "over TLS",
    server: () => createTlsServer(identity, echo),
    request: { protocol: "https:", body: "x" },
    expected: { status: 200, text: "x", path: "POST /" },
  },
  {
    name: "a header that HTTP does not allow",
    request: { headers: { "x-a": "\n" } },
    expected: { name: "TypeError", code: "ERR_INVALID_CHAR" },
    connections: 0,
  },
  {
    name: "nobody listens",
    request: { port: 9 },
    expected: { name: "Error", code: "ECONNREFUSED" },
    connections: 0,
  },
  {
    name: "no reply",
    serve: silence,
    within: 50,
    expected: { name: "TimeoutError", code: "ETIMEDOUT" },
  },
  {
    name: "no TLS handshake",
    server: silentTcp,
    request: { protocol: "https:" },
    within: 50,
    expected: { name: "TimeoutError", code: "ETIMEDOUT" },
  },
  {
    name: "a reply within the time of this one request",
    serve: (_request, response) => void setTimeout(() => response.end("late"), 400),
    within: 200,
    options: { requestTimeout: 60_000 },
    expected: { status: 200, text: "late" },
  },
  {
    name: "a connection that is dropped",
    serve: drop,
    expected: { name: "TimeoutError", code: "ECONNRESET" },
  },
  {
    name: "a reply that is cut off",
    serve: cut,
    expected: { name: "TimeoutError", code: "ECONNRESET" },
    theirs: { name: "Error", code: "ECONNRESET" }, // tried again by its code
  },
  {
    name: "a reply that does not end: the try's time bounds the body too",
    serve: stall,
    within: 50,
    expected: { name: "TimeoutError", code: "ETIMEDOUT" },
    theirs: NOT_COMPARED, // it waits
  },
  {
    name: "an abort before the request: nothing is sent",
    options: { abortSignal: AbortSignal.abort() },
    expected: { name: "AbortError" },
    connections: 0,
  },
  {
    name: "an abort during the handshake",
    server: () => silentTcp(abort),
    request: { protocol: "https:" },
    expected: { name: "AbortError" },
  },
  {
    name: "an abort before the reply",
    serve: abort,
    expected: { name: "AbortError" },
  },
  {
    name: "an abort during the body",
    serve: stallAndAbort,
    expected: { name: "AbortError" },
    theirs: NOT_COMPARED, // by when it comes, an AbortError or a reply that is cut off
  },
];

const BOTH = ROWS.flatMap((row) => [
  { ...row, who: "ours" as const },
  { ...row, who: "theirs" as const, expected: row.theirs ?? row.expected },
]);

test.each(BOTH.filter(({ expected }) => expected !== NOT_COMPARED))("$who: $name", async (row) => {
  const { port, sockets } = await listen(row.server?.() ?? createServer(row.serve));
  const handler = HANDLERS[row.who](row.within ?? 60_000, AGENT);
  onTestFinished(() => handler.destroy?.());
  const request = { ...requestTo(port), ...row.request };

  const outcome = await handler
    .handle(request, { abortSignal: caller.signal, ...row.options })
    .then(async ({ response: { statusCode: status, headers, body } }) => ({
      status,
      text: Buffer.isBuffer(body) ? body.toString() : await text(body as Readable),
      ...(headers["x-path"] && { path: headers["x-path"] }),
      ...(headers["set-cookie"] && { cookie: headers["set-cookie"] }),
    }))
    .catch(({ name, code }: NodeJS.ErrnoException) => ({ name, ...(code && { code }) }));

  expect(outcome).toEqual(row.expected);
  expect(sockets).toHaveLength(row.connections ?? 1);
  const kept = "status" in row.expected ? 1 : 0;
  await expect.poll(() => sockets.filter(({ closed }) => !closed)).toHaveLength(kept);
});

test.each(["http:", "https:"])(
  "%s connections are kept until the handler ends",
  async (protocol) => {
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0"); // nobody vouches for the test's certificate
    vi.spyOn(process, "emitWarning").mockReturnValue(); // Node warns of that
    const server = protocol === "http:" ? createServer(fine) : createTlsServer(identity, fine);
    const { port, sockets } = await listen(server);
    const handler = createRequestHandler(5_000);
    const request = { ...requestTo(port), protocol };

    await handler.handle(request);
    await handler.handle(request);
    expect(sockets.map(({ closed }) => closed)).toEqual([false]);
    handler.destroy?.();

    await expect.poll(() => sockets[0]?.closed).toBe(true);
  },
);

test.each(["ours", "theirs"] as const)(
  "%s: a kept connection that breaks at the write",
  async (who) => {
    const kept = vi.spyOn(HttpAgent.prototype, "keepSocketAlive");
    const { port } = await listen(createServer(fine));
    const handler = HANDLERS[who](5_000);
    onTestFinished(() => handler.destroy?.());
    const { response } = await handler.handle(requestTo(port));
    if (!Buffer.isBuffer(response.body)) await text(response.body as Readable);
    await expect.poll(() => kept.mock.calls.length).toBe(1);
    const socket = kept.mock.calls[0]?.[0] as Socket;
    socket.write = () => {
      socket.destroy(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
      return false;
    };

    const second = handler.handle(requestTo(port));

    await expect(second).rejects.toMatchObject({ name: "TimeoutError", code: "EPIPE" });
  },
);

test("a reply leaves no timer and no listener", async () => {
  const { port } = await listen(createServer(fine));
  const handler = createRequestHandler(5_000);
  onTestFinished(() => handler.destroy?.());
  const { signal } = new AbortController();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });

  await handler.handle(requestTo(port), { abortSignal: signal });
  const left = [vi.getTimerCount(), getEventListeners(signal, "abort").length];
  vi.useRealTimers();

  expect(left).toEqual([0, 0]);
});

const CLIENTS = {
  ours: (endpoint: string, tryMs: number) =>
    createDynamoDb({ credentials, callTimeoutMs: 3 * tryMs, endpoint }),
  theirs: (endpoint: string, tryMs: number) => {
    const requestHandler = theirOptions(tryMs);
    const client = new DynamoDBClient({ credentials, endpoint, maxAttempts: 3, requestHandler });
    return DynamoDBDocumentClient.from(client);
  },
};

type Ended = { attempts: number } | { error: string; item?: object };

// What the server does with each try of a call; and the time of a try, in ms.
const CALLS: [string, RequestListener[], Ended, number?][] = [
  ["a connection that is dropped", [drop, fine], { attempts: 2 }],
  ["a kept connection that is dropped", [fine, drop, fine], { attempts: 2 }],
  ["three that are dropped", [drop, drop, drop], { error: "TimeoutError" }],
  ["a reply that is cut off", [cut, fine], { attempts: 2 }],
  ["no reply at first", [silence, fine], { attempts: 2 }, 500],
  ["never a reply", [silence, silence, silence], { error: "TimeoutError" }, 300],
  ["an abort meanwhile", [abort], { error: "AbortError" }],
  ["a 500", [says(500, ""), fine], { attempts: 2 }],
  ["a proxy's page", [says(503, "<html>"), says(503, "<html>"), fine], { attempts: 3 }],
  ["throttling", [typed("ThrottlingException"), fine], { attempts: 2 }],
  ["an invalid request", [typed("ValidationException")], { error: "ValidationException" }],
  [
    "a failed condition, with the item that stands there",
    [typed("ConditionalCheckFailedException", { Item: { messageId: { S: "ä" } } })],
    { error: "ConditionalCheckFailedException", item: { messageId: { S: "ä" } } },
  ],
];

test.each(
  (["ours", "theirs"] as const).flatMap((who) =>
    CALLS.map(([name, tries, ended, tryMs]) => ({ who, name, tries, ended, tryMs })),
  ),
)("a client with $who: $name", async ({ who, tries, ended, tryMs = 20_000 }) => {
  const left = [...tries];
  const { port } = await listen(
    createServer((request, response) => {
      const listener = left.shift() ?? says(418, "");
      request.resume().once("end", () => listener(request, response));
    }),
  );
  const client = CLIENTS[who](`http://127.0.0.1:${port}`, tryMs);
  onTestFinished(() => client.destroy());
  const put = new PutCommand({ TableName: "records", Item: { messageId: "order-1" } });
  if (tries[0] === fine) await client.send(put);

  const outcome = await client.send(put, { abortSignal: caller.signal }).then(
    ({ $metadata: { attempts } }) => ({ attempts }),
    ({ name, Item }: Error & { Item?: object }) => ({ error: name, ...(Item && { item: Item }) }),
  );

  expect(outcome).toEqual(ended);
  expect(left).toEqual([]);
});
