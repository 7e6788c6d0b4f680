// The inside of an execution environment: what Lambda's Node runtime does around a handler. Runs in a
// child process with nothing but the function's environment, and dies with its parent.
import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";

import type { Answer, Order, Report } from "./invocation.ts";

type Handler = (event: unknown, context: object) => unknown;

const bundle = process.argv[2] ?? "";
const logStreamName = `${new Date().toISOString().slice(0, 10).replaceAll("-", "/")}/[$LATEST]${randomUUID().replaceAll("-", "")}`;
process.env["AWS_LAMBDA_LOG_STREAM_NAME"] = logStreamName;

let current: string | undefined;

const send = (report: Report, sent: () => void = () => {}): void => {
  process.send?.(report, sent);
};

const describe = (error: unknown): { errorType: string; errorMessage: string; stack: string } =>
  error instanceof Error
    ? { errorType: error.name, errorMessage: error.message, stack: error.stack ?? "" }
    : { errorType: typeof error, errorMessage: String(error), stack: "" };

/** Writes an error the way the runtime logs one in Lambda's JSON log format. */
function logError(errorType: string, error: unknown): void {
  const { errorMessage, stack } = describe(error);
  process.stdout.write(
    `${JSON.stringify({
      timestamp: new Date().toISOString(),
      level: "ERROR",
      requestId: current,
      message: { errorType, errorMessage, stackTrace: stack.split("\n") },
    })}\n`,
  );
}

/** Ends the process for a reason that belongs to no response; the exit codes are the runtime's. */
function die(errorType: string, error: unknown, exitCode: number): void {
  logError(errorType, error);
  const { errorMessage } = describe(error);
  send({ type: "last-words", errorType, errorMessage }, () => process.exit(exitCode));
}

// Ctrl-C in a terminal reaches every process at once; the parent decides what becomes of this one.
process.on("SIGINT", () => {});
process.on("disconnect", () => process.exit(0));
process.on("unhandledRejection", (reason) => die("Runtime.UnhandledPromiseRejection", reason, 128));
process.on("uncaughtException", (error) => die(error.name, error, 129));
// The channel to the parent does not keep the loop alive during an invocation (see below), so an
// empty loop means that the handler's promise can never settle.
process.on("beforeExit", () =>
  die(
    "Runtime.NodeJsExit",
    new Error(
      "The Lambda runtime client detected an unexpected Node.js exit code. This is most commonly caused by a Promise that was never settled.",
    ),
    13,
  ),
);

function load(): Handler | undefined {
  try {
    const loaded = createRequire(import.meta.url)(bundle) as { handler?: Handler };
    if (typeof loaded.handler === "function") return loaded.handler;
    die("Runtime.HandlerNotFound", new Error("index.handler is undefined or not exported"), 1);
  } catch (error) {
    die(describe(error).errorType, error, 1);
  }
  return undefined;
}

async function run(handler: Handler, order: Order): Promise<Answer> {
  const context = {
    callbackWaitsForEmptyEventLoop: true,
    functionName: process.env["AWS_LAMBDA_FUNCTION_NAME"],
    functionVersion: "$LATEST",
    invokedFunctionArn: order.invokedFunctionArn,
    memoryLimitInMB: process.env["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"],
    awsRequestId: order.requestId,
    logGroupName: process.env["AWS_LAMBDA_LOG_GROUP_NAME"],
    logStreamName,
    getRemainingTimeInMillis: () => Math.max(0, order.deadline - Date.now()),
  };
  try {
    const response = await handler(JSON.parse(order.payload), context);
    // JSON has no undefined: the runtime sends null in its place.
    const { heapUsed: heapBytes, rss: rssBytes } = process.memoryUsage();
    const memory = { heapBytes, rssBytes };
    return { type: "response", payload: JSON.stringify(response) ?? "null", memory };
  } catch (error) {
    const { errorType, errorMessage } = describe(error);
    logError(errorType, error);
    return { type: "error", errorType, errorMessage };
  }
}

async function answer(handler: Handler, order: Order): Promise<void> {
  current = order.requestId;
  process.channel?.unref();
  const answer = await run(handler, order);
  process.channel?.ref();
  current = undefined;
  send(answer);
}

const handler = load();
if (handler) {
  process.on("message", (message) => void answer(handler, message as Order));
  send({ type: "ready" });
}
