// The clients against servers that count what reaches them.

import { createServer } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { Agent } from "node:https";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";

import { addressOf, dynamoDb, secretsManager, sqs } from "../../../lib/aws/clients.ts";
import { WORKER_TIMINGS } from "../../support/timings.ts";

beforeEach(() => {
  vi.stubEnv("AWS_REGION", "eu-central-1");
  vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDLOCAL");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
  vi.stubEnv("AWS_SESSION_TOKEN", "");
  vi.stubEnv("AWS_ENDPOINT_URL", undefined);
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", undefined);
});

type Seen = { headers: IncomingHttpHeaders; body: unknown };

/** A DynamoDB that says yes to everything, or nothing at all. */
async function startDynamoDb({ silent }: { silent: boolean }) {
  const seen: Seen[] = [];
  const note = async (request: IncomingMessage, response: ServerResponse) => {
    const asked: Seen = { headers: request.headers, body: undefined };
    seen.push(asked);
    if (silent) return;
    asked.body = await json(request);
    response.end("{}");
  };
  const server = createServer((request, response) => void note(request, response));
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { seen, endpoint: `http://127.0.0.1:${port}` };
}

const put = new PutCommand({
  TableName: "records",
  Item: { messageId: "order-1", lastError: { kind: "deadline", code: undefined } },
});

test("a table that does not answer is asked three times, each for a third of the call's time", async () => {
  const { seen, endpoint } = await startDynamoDb({ silent: true });
  const client = dynamoDb({ ...WORKER_TIMINGS, callTimeoutMs: 300 }, { endpoint });

  const call = client.send(put, { abortSignal: AbortSignal.timeout(5_000) });

  await expect(call).rejects.toMatchObject({ name: "TimeoutError" });
  expect(seen).toHaveLength(3);
  const handler = client.config.requestHandler as unknown as { httpHandlerConfigs(): object };
  expect(handler.httpHandlerConfigs()).toMatchObject({
    connectionTimeout: 100,
    requestTimeout: 100,
  });
});

test("a request is signed with the function's role, and what is undefined is left out", async () => {
  const { seen, endpoint } = await startDynamoDb({ silent: false });

  await dynamoDb(WORKER_TIMINGS, { endpoint }).send(put);
  vi.stubEnv("AWS_SESSION_TOKEN", "token");
  await dynamoDb(WORKER_TIMINGS, { endpoint }).send(put);

  const [withKeys, withSession] = seen.map(({ headers }) => headers);
  expect(withKeys?.authorization).toMatch(/ Credential=AKIDLOCAL\/\d{8}\/eu-central-1\/dynamodb\//);
  expect(withKeys?.["x-amz-security-token"]).toBeUndefined();
  expect(withSession?.["x-amz-security-token"]).toBe("token");
  expect(seen[0]?.body).toEqual({
    TableName: "records",
    Item: { messageId: { S: "order-1" }, lastError: { M: { kind: { S: "deadline" } } } },
  });
});

test("connections to AWS are the given agent's", async () => {
  const httpsAgent = new Agent();
  const connect = vi.spyOn(httpsAgent, "createConnection");
  const client = dynamoDb(WORKER_TIMINGS, { endpoint: "https://127.0.0.1:9", httpsAgent });

  await expect(client.send(put)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  expect(connect).toHaveBeenCalled();
});

test.each(["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])(
  "without %s no client is made, and the error says which variables are missing",
  (variable) => {
    vi.stubEnv(variable, undefined);

    for (const client of [dynamoDb, sqs, secretsManager]) {
      expect(() => client(WORKER_TIMINGS)).toThrow(
        new Error(
          "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set: Lambda sets them from the function's role; a local run takes any value.",
        ),
      );
    }
  },
);

test("the table's address is the region's, or the one that the environment names", async () => {
  const regional = await addressOf(dynamoDb(WORKER_TIMINGS));
  vi.stubEnv("AWS_ENDPOINT_URL", "http://127.0.0.1:4000");
  const general = await addressOf(dynamoDb(WORKER_TIMINGS));
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", "http://127.0.0.1:4001");
  const own = await addressOf(dynamoDb(WORKER_TIMINGS));

  expect(regional.href).toBe("https://dynamodb.eu-central-1.amazonaws.com/");
  expect(general.href).toBe("http://127.0.0.1:4000/");
  expect(own.href).toBe("http://127.0.0.1:4001/");
});
