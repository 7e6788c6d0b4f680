import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import type { LogLine } from "../../local/function-host/invocation.ts";
import { invokeOnce } from "../../local/function-host/invoke-once.ts";

const SCRIPTED = fixture("scripted-handler.cjs");

const CRASH = { ok: false, reason: "crash", errorType: "Runtime.ExitError" };

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

test.each<[string, object, object, timeoutMs?: number]>([
  ["answers nothing answers null", { do: "respond" }, { ok: true, payload: "null" }],
  ["answers what is no JSON fails", { do: "circular" }, { ok: false, reason: "error" }],
  [
    "is not done at the deadline is killed",
    { do: "hang" },
    {
      reason: "timeout",
      errorType: "Sandbox.Timedout",
      errorMessage: expect.stringMatching(
        /^RequestId: [0-9a-f-]{36} Error: Task timed out after 0\.30 seconds$/,
      ) as string,
    },
    300,
  ],
  [
    "exits with status 0 crashes",
    { do: "exit", code: 0 },
    { ...CRASH, errorMessage: "Runtime exited without providing a reason" },
  ],
  [
    "exits with status 3 crashes",
    { do: "exit", code: 3 },
    { ...CRASH, errorMessage: "Runtime exited with error: exit status 3" },
  ],
  [
    "leaves a rejection unhandled crashes",
    { do: "reject" },
    {
      reason: "crash",
      errorType: "Runtime.UnhandledPromiseRejection",
      errorMessage: "nobody awaited this",
    },
  ],
  [
    "can never settle crashes instead of using up the timeout",
    { do: "never" },
    { reason: "crash", errorType: "Runtime.NodeJsExit" },
  ],
])("a handler that %s", async (_, script, result, timeoutMs) => {
  expect(await run(script, timeoutMs)).toMatchObject(result);
});

test.each([
  ["broken-init.cjs", "RangeError", "STRIPE_TIMEOUT_SECONDS must be a number"],
  ["no-such-bundle.cjs", "Error", "no-such-bundle.cjs"],
])("the bundle %s, which does not load, is a failed invocation", async (name, errorType, why) => {
  const given = { bundle: fixture(name), timeoutMs: 1_000, env: {} };

  expect(await invokeOnce(given, {})).toMatchObject({
    ok: false,
    errorType,
    errorMessage: expect.stringContaining(why) as string,
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
