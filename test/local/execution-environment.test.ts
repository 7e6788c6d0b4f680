import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import type { LogLine } from "../../local/function-host/invocation.ts";
import { invokeOnce } from "../../local/function-host/invoke-once.ts";

const SCRIPTED = fixture("scripted-handler.cjs");

function fixture(name: string): string {
  return fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
}

function run(script: object, timeoutMs = 10_000, onLog?: (line: LogLine) => void) {
  const event = { Records: [{ body: JSON.stringify(script) }] };
  return invokeOnce({ bundle: SCRIPTED, timeoutMs, env: { COLOR: "green" } }, event, onLog);
}

test("the handler sees Lambda's variables and its own, and no other of the machine's", async () => {
  const result = await run({ do: "see" });

  expect(result).toMatchObject({ ok: true });
  const seen = JSON.parse(result.ok ? result.payload : "{}") as { variables: string[] };
  expect(seen.variables).toEqual([
    "AWS_DEFAULT_REGION",
    "AWS_EXECUTION_ENV",
    "AWS_LAMBDA_FUNCTION_MEMORY_SIZE",
    "AWS_LAMBDA_FUNCTION_NAME",
    "AWS_LAMBDA_FUNCTION_VERSION",
    "AWS_LAMBDA_INITIALIZATION_TYPE",
    "AWS_LAMBDA_LOG_FORMAT",
    "AWS_LAMBDA_LOG_GROUP_NAME",
    "AWS_LAMBDA_LOG_STREAM_NAME",
    "AWS_REGION",
    "COLOR",
    "LAMBDA_TASK_ROOT",
    "LANG",
    "PATH",
    "TZ",
    "_HANDLER",
  ]);
});

test("the context carries what Lambda's does, and the time that remains", async () => {
  const result = await run({ do: "see" }, 7_000);

  const seen = JSON.parse(result.ok ? result.payload : "{}") as {
    context: Record<string, unknown>;
    remaining: number;
  };
  expect(seen.context).toEqual({
    awsRequestId: result.requestId,
    callbackWaitsForEmptyEventLoop: true,
    functionName: "payment-worker",
    functionVersion: "$LATEST",
    invokedFunctionArn: "arn:aws:lambda:us-east-1:000000000000:function:payment-worker",
    logGroupName: "/aws/lambda/payment-worker",
    logStreamName: expect.stringMatching(/^\d{4}\/\d\d\/\d\d\/\[\$LATEST\][0-9a-f]{32}$/) as string,
    memoryLimitInMB: "512",
  });
  expect(seen.remaining).toBeGreaterThan(0);
  expect(seen.remaining).toBeLessThanOrEqual(7_000);
});

test("a handler that answers nothing answers null", async () => {
  expect(await run({ do: "respond" })).toMatchObject({ ok: true, payload: "null" });
});

test("a thrown error is a failed invocation with its type and message, logged as JSON", async () => {
  const lines: LogLine[] = [];

  const result = await run({ do: "throw" }, 10_000, (line) => lines.push(line));

  expect(result).toMatchObject({
    ok: false,
    reason: "error",
    errorType: "TypeError",
    errorMessage: "no such card",
  });
  expect(JSON.parse(lines[0]?.line ?? "{}")).toMatchObject({
    level: "ERROR",
    requestId: result.requestId,
    message: { errorType: "TypeError", errorMessage: "no such card" },
  });
});

test("a response that is no JSON value is a failed invocation", async () => {
  expect(await run({ do: "circular" })).toMatchObject({ ok: false, reason: "error" });
});

test("a handler that is not done at the deadline is killed and timed out", async () => {
  expect(await run({ do: "hang" }, 300)).toMatchObject({
    ok: false,
    reason: "timeout",
    errorType: "Sandbox.Timedout",
    errorMessage: expect.stringMatching(
      /^RequestId: [0-9a-f-]{36} Error: Task timed out after 0\.30 seconds$/,
    ) as string,
  });
});

test.each([
  [0, "Runtime exited without providing a reason"],
  [3, "Runtime exited with error: exit status 3"],
])("a process that exits with status %i crashes the invocation", async (code, errorMessage) => {
  expect(await run({ do: "exit", code })).toMatchObject({
    ok: false,
    reason: "crash",
    errorType: "Runtime.ExitError",
    errorMessage,
  });
});

test("an unhandled rejection ends the execution environment", async () => {
  expect(await run({ do: "reject" })).toMatchObject({
    ok: false,
    reason: "crash",
    errorType: "Runtime.UnhandledPromiseRejection",
    errorMessage: "nobody awaited this",
  });
});

test("a promise that can never settle ends the execution environment instead of using up the timeout", async () => {
  expect(await run({ do: "never" })).toMatchObject({
    ok: false,
    reason: "crash",
    errorType: "Runtime.NodeJsExit",
  });
});

test("a bundle that fails to load is a failed invocation with the bundle's own reason", async () => {
  const result = await invokeOnce(
    { bundle: fixture("broken-init.cjs"), timeoutMs: 1_000, env: {} },
    {},
  );

  expect(result).toMatchObject({
    ok: false,
    errorType: "RangeError",
    errorMessage: "STRIPE_TIMEOUT_SECONDS must be a number",
  });
});

test("a bundle that does not exist is a failed invocation", async () => {
  const result = await invokeOnce(
    { bundle: fixture("no-such-bundle.cjs"), timeoutMs: 1_000, env: {} },
    {},
  );

  expect(result).toMatchObject({
    ok: false,
    errorMessage: expect.stringContaining("no-such-bundle.cjs") as string,
  });
});

test("lines are forwarded as they were written, each from its stream", async () => {
  const lines: LogLine[] = [];

  await run({ do: "print", text: '{"a": 1}\n  two\nno newline' }, 10_000, (line) =>
    lines.push(line),
  );

  const written = (stream: string): string[] =>
    lines.filter((line) => line.stream === stream).map((line) => line.line);
  expect(written("stdout")).toEqual(['{"a": 1}', "  two", "no newline"]);
  expect(written("stderr")).toEqual(["and an error line"]);
});
