import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";

import { startStack } from "../../local/stack.ts";
import type { Stack } from "../../local/stack.ts";
import { samEnvironment } from "../../scripts/sam-environment.ts";
import { cdk } from "./cdk.ts";
import { startRuntime } from "./runtime.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const SAM = join(ROOT, ".local", "sam", "bin");
const LOGICAL_ID = "PaymentWorkerFunction9F42CB01";

type Resolved = {
  logicalId: string;
  runtime: string;
  handler: string;
  architecture: string;
  code: string;
  timeoutSeconds: number;
  memoryMb: number;
  environment: Record<string, string>;
};

let folder: string;
let template: string;
let stack: Stack;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "sam-"));
  template = join(folder, "cdk.out", "PaymentWorker-dev.template.json");
  await cdk(process.env, "synth", "--quiet", "--output", join(folder, "cdk.out"));
  stack = await startStack();
});

afterAll(async () => {
  await stack?.stop();
  if (folder) rmSync(folder, { recursive: true });
});

/** Runs a tool of the SAM CLI's installation and returns what it printed. */
async function sam(tool: string, ...args: string[]): Promise<string> {
  const env = {
    ...process.env,
    SAM_CLI_TELEMETRY: "0",
    AWS_DEFAULT_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
  };
  const { stdout } = await promisify(execFile)(join(SAM, tool), args, { env });
  return stdout;
}

async function resolve(): Promise<Resolved> {
  const file = join(folder, "sam.json");
  writeFileSync(file, JSON.stringify(samEnvironment(stack.env)));
  const script = join(import.meta.dirname, "sam_resolve.py");
  return JSON.parse(await sam("python", script, template, file));
}

test("the SAM CLI finds the template valid", async () => {
  expect(await sam("sam", "validate", "--lint", "--template", template)).toContain(
    "is a valid SAM Template",
  );
});

test("sam local invoke finds the function, its code and an environment that points at the local stack", async () => {
  const { environment, code, ...rest } = await resolve();

  expect(rest).toStrictEqual({
    logicalId: LOGICAL_ID,
    runtime: "nodejs24.x",
    handler: "init.handler",
    architecture: "arm64",
    timeoutSeconds: 60,
    memoryMb: 512,
  });
  expect(readFileSync(join(code, "index.js"))).toStrictEqual(
    readFileSync(join(ROOT, "dist", "payment-worker", "index.js")),
  );
  expect(environment).toMatchObject({
    RECORDS_TABLE: "payment-records",
    QUEUE_URL: stack.queues.queueUrl,
    STRIPE_SECRET_ARN: "",
    STRIPE_API_KEY: "sk_test_local",
    STRIPE_API_BASE: stack.stripe.url,
    AWS_ENDPOINT_URL_DYNAMODB: stack.table.url,
    AWS_ENDPOINT_URL_SQS: stack.queue.url,
    AWS_LAMBDA_LOG_FORMAT: "JSON",
  });
});

test("what SAM resolves runs in Lambda's own runtime: one charge, and metrics at the root of the log line", async () => {
  const { code, handler, environment } = await resolve();
  const runtime = await startRuntime(code, handler, environment);
  onTestFinished(() => runtime.stop());

  const event = readFileSync(join(ROOT, "events", "payment.json"), "utf8");
  const answer = await runtime.invoke(event);

  expect(answer).toStrictEqual({ batchItemFailures: [] });
  expect(stack.stripe.ledger.chargesFor("order-1001")).toMatchObject([
    { amount: 1250, currency: "eur", status: "succeeded" },
  ]);
  const line = runtime.lines().find((text) => text.includes('"order-1001"'));
  expect(JSON.parse(line ?? "{}")).toMatchObject({
    level: "INFO",
    FunctionName: LOGICAL_ID,
    Succeeded: 1,
    _aws: { CloudWatchMetrics: [{ Namespace: "PaymentWorker" }, expect.anything()] },
  });
});
