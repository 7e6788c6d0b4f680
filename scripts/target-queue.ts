// Finds the queue that a command is meant for, and a client that reaches it.
import { readFileSync } from "node:fs";
import { SQSClient } from "@aws-sdk/client-sqs";
import { UsageError } from "./command.ts";
import { findRunningStack } from "./running-stack.ts";

/**
 * The queue that `--queue-url`, else `--outputs`, names; else the running local stack's.
 *
 * @throws UsageError when there is none
 */
export function findQueue(
  queueUrl: string | undefined,
  outputs: string | undefined,
): { queueUrl: string; client: SQSClient } {
  if (queueUrl !== undefined) return { queueUrl, client: clientFor(queueUrl) };
  if (outputs !== undefined) {
    const found = queueUrlIn(outputs);
    return { queueUrl: found, client: clientFor(found) };
  }
  const running = findRunningStack();
  if (!running) {
    throw new UsageError(
      "No local stack is running: start one with `npm start` in another terminal, or name a queue with --queue-url or --outputs.",
    );
  }
  return { queueUrl: running.queueUrl, client: clientFor(running.queueUrl) };
}

/** For a queue in AWS, its URL gives the region and the SDK's own chain the credentials. */
function clientFor(queueUrl: string): SQSClient {
  const url = URL.parse(queueUrl);
  if (!url) throw new UsageError(`--queue-url must be a URL, as in the stack's QueueUrl output.`);
  const region = /^sqs\.([a-z0-9-]+)\.amazonaws\./.exec(url.hostname)?.[1];
  if (region !== undefined) return new SQSClient({ region });
  return new SQSClient({
    endpoint: url.origin,
    region: "us-east-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
  });
}

function queueUrlIn(file: string): string {
  let stacks: Record<string, Record<string, string>>;
  try {
    stacks = JSON.parse(readFileSync(file, "utf8")) as typeof stacks;
  } catch (error) {
    throw new UsageError(
      `--outputs ${file} cannot be read: write it with \`npx cdk deploy --outputs-file ${file}\`.`,
      { cause: error },
    );
  }
  const urls = Object.values(stacks).flatMap((stack) => stack["QueueUrl"] ?? []);
  if (urls.length !== 1 || !urls[0]) {
    throw new UsageError(
      `--outputs ${file} names ${urls.length} queues: name the one you mean with --queue-url.`,
    );
  }
  return urls[0];
}
