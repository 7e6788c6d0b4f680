// One execution environment: imports the bundle as Lambda's Node 24 runtime does, reports when it is
// ready, and runs one invocation at a time. Plain JavaScript, so that nothing but the bundle takes
// time to start.
// https://github.com/aws/aws-lambda-nodejs-runtime-interface-client (src/function/module-loader.ts)
"use strict";

const { pathToFileURL } = require("node:url");

async function main() {
  const { handler } = await import(pathToFileURL(process.argv[2]).href);
  process.on("message", ({ event, remainingMs }) => void invoke(handler, event, remainingMs));
  process.on("disconnect", () => process.exit());
  // Both count from the start of the process.
  const readyMs = performance.now();
  const readyCpuMs = milliseconds(process.cpuUsage());
  process.send({ kind: "ready", readyMs, readyCpuMs }, () => {});
}

async function invoke(handler, event, remainingMs) {
  const started = performance.now();
  const cpu = process.cpuUsage();
  const context = {
    awsRequestId: "bench",
    functionName: "payment-worker",
    functionVersion: "$LATEST",
    invokedFunctionArn: "arn:aws:lambda:us-east-1:000000000000:function:payment-worker",
    memoryLimitInMB: process.env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE,
    getRemainingTimeInMillis: () =>
      Math.max(0, Math.floor(started + remainingMs - performance.now())),
  };
  try {
    const response = await handler(event, context);
    const wallMs = performance.now() - started;
    const cpuMs = milliseconds(process.cpuUsage(cpu));
    const peakMb = process.resourceUsage().maxRSS / 1_024;
    const failures = response.batchItemFailures;
    process.send({ kind: "done", wallMs, cpuMs, peakMb, failures });
  } catch (error) {
    process.send({ kind: "failed", message: String(error) });
  }
}

const milliseconds = ({ user, system }) => (user + system) / 1_000;

void main();
