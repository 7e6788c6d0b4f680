// The bucket of reports, from a server that answers as S3 does.

import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";

import { beforeEach, expect, test, vi } from "vitest";

import { reportBucket } from "../../../lib/aws/report-bucket.ts";
import { createS3 } from "../../../lib/aws/s3-client.ts";
import { listen } from "../../support/listen.ts";

beforeEach(() => {
  vi.stubEnv("AWS_REGION", "eu-central-1");
});

const xml = (code: string) => `<?xml version="1.0"?><Error><Code>${code}</Code></Error>`;

/** A bucket that always answers this; undefined: never. */
async function prepare(answer: { status: number; body: string } | undefined, timeoutMs = 5_000) {
  const asked: unknown[] = [];
  const reply = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method, url = "", headers } = request;
    asked.push([method, url.split("?")[0], headers["content-type"], await text(request)]);
    if (answer) response.writeHead(answer.status).end(answer.body);
  };
  const server = createServer((request, response) => void reply(request, response));
  const endpoint = `http://127.0.0.1:${await listen(server)}`;
  const credentials = { accessKeyId: "AKIDLOCAL", secretAccessKey: "secret" };
  const callTimeoutMs = answer ? 15_000 : 300; // a busy machine takes no second try of what is answered
  const client = createS3({ credentials, callTimeoutMs, endpoint });
  return { asked, client, bucket: reportBucket(client, "reports", timeoutMs) };
}

test.each([
  [200, '{"version":1}', { version: 1 }],
  [200, "{", "{"],
  [200, "", ""],
  [404, xml("NoSuchKey"), undefined],
])("of %i %j the checkpoint is %j", async (status, body, kept) => {
  const { asked, bucket } = await prepare({ status, body });
  expect(await bucket.kept()).toEqual(kept);
  expect(asked).toEqual([["GET", "/reports/checkpoint.json", undefined, ""]]);
});

test("a bucket that may not be read has not no checkpoint, but fails", async () => {
  const { bucket } = await prepare({ status: 403, body: xml("AccessDenied") });
  await expect(bucket.kept()).rejects.toMatchObject({ name: "AccessDenied" });
});

test("a checkpoint and a report are put as JSON, under their names", async () => {
  const { asked, bucket } = await prepare({ status: 200, body: "" });
  await bucket.keep({ version: 1 });
  await bucket.publish("2026.json", { records: 2 });
  expect(asked).toEqual([
    ["PUT", "/reports/checkpoint.json", "application/json", '{"version":1}'],
    ["PUT", "/reports/reports/2026.json", "application/json", '{"records":2}'],
  ]);
});

test("a bucket that does not answer is asked three times, each for a third of the call's time", async () => {
  const { asked, client, bucket } = await prepare(undefined);
  await expect(bucket.kept()).rejects.toMatchObject({ name: "TimeoutError" });
  expect(asked).toHaveLength(3);
  const handler = client.config.requestHandler as unknown as { httpHandlerConfigs(): object };
  expect(handler.httpHandlerConfigs()).toMatchObject({
    connectionTimeout: 100,
    requestTimeout: 100,
  });
});

test("a call ends with its own time, whatever tries are left", async () => {
  const { bucket } = await prepare(undefined, 20);
  await expect(bucket.keep({})).rejects.toMatchObject({ name: "AbortError" });
  await expect(bucket.kept()).rejects.toMatchObject({ name: "AbortError" });
});
