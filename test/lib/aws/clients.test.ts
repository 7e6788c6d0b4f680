// The clients against servers that count what reaches them.

import { createServer } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { Agent } from "node:https";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";

import { createDynamoDb, endpointOf } from "../../../lib/aws/clients.ts";

beforeEach(() => {
  vi.stubEnv("AWS_REGION", "eu-central-1");
});

const credentials = { accessKeyId: "AKIDLOCAL", secretAccessKey: "secret" };

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
  const client = createDynamoDb({ credentials, callTimeoutMs: 300, endpoint });

  const call = client.send(put, { abortSignal: AbortSignal.timeout(5_000) });

  await expect(call).rejects.toMatchObject({
    name: "TimeoutError",
    message: "no whole reply within 100 ms",
  });
  expect(seen).toHaveLength(3);
});

test("a request is signed with the function's role, and what is undefined is left out", async () => {
  const { seen, endpoint } = await startDynamoDb({ silent: false });

  const settings = { credentials, callTimeoutMs: 3_000, endpoint };
  await createDynamoDb(settings).send(put);
  const session = { ...credentials, sessionToken: "token" };
  await createDynamoDb({ ...settings, credentials: session }).send(put);

  const [withKeys, withSession] = seen.map(({ headers }) => headers);
  expect(withKeys?.authorization).toMatch(/ Credential=AKIDLOCAL\/\d{8}\/eu-central-1\/dynamodb\//);
  expect(withKeys?.["x-amz-security-token"]).toBeUndefined();
  expect(withSession?.["x-amz-security-token"]).toBe("token");
  expect(seen[0]?.body).toEqual({
    TableName: "records",
    Item: { messageId: { S: "order-1" }, lastError: { M: { kind: { S: "deadline" } } } },
  });
});

test("a client makes its signer once, whoever asks for it", async () => {
  const { seen, endpoint } = await startDynamoDb({ silent: false });
  const client = createDynamoDb({ credentials, callTimeoutMs: 3_000, endpoint });

  await Promise.all([client.send(put), client.send(put)]);

  expect(seen).toHaveLength(2);
  expect(await client.config.signer()).toBe(await client.config.signer());
});

test("connections to AWS are the given agent's", async () => {
  const httpsAgent = new Agent();
  const connect = vi.spyOn(httpsAgent, "createConnection");
  const endpoint = "https://127.0.0.1:9";
  const client = createDynamoDb({ credentials, callTimeoutMs: 3_000, endpoint, httpsAgent });

  await expect(client.send(put)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  expect(connect).toHaveBeenCalled();
});

test("the table's endpoint is the region's, or the one that the client was given", async () => {
  const settings = { credentials, callTimeoutMs: 3_000 };

  const regional = await endpointOf(createDynamoDb(settings));
  const given = await endpointOf(
    createDynamoDb({ ...settings, endpoint: "http://127.0.0.1:4001" }),
  );
  const named = await endpointOf(createDynamoDb({ ...settings, endpoint: "https://table.test" }));

  expect(regional.href).toBe("https://dynamodb.eu-central-1.amazonaws.com/");
  expect(given.href).toBe("http://127.0.0.1:4001/");
  expect(named.href).toBe("https://table.test/");
});
