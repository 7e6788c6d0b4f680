// One batch's way: into the function, and out of the queue as far as the function answered for it.
import type { Message } from "@aws-sdk/client-sqs";

import type { LambdaFunction } from "../function-host/function.ts";
import type { Backoff } from "./backoff.ts";
import { readBatchResult } from "./batch-response.ts";
import type { DeliveredMessage, SourceEvent } from "./events.ts";
import type { QueueClient } from "./queue-client.ts";
import { toSqsEvent } from "./sqs-event.ts";

/** Returns the function that delivers a batch; it never rejects. */
export function createDelivery({
  queue,
  queueArn,
  lambda,
  backoff,
  publish,
}: {
  queue: QueueClient;
  queueArn: string;
  lambda: LambdaFunction;
  backoff: Backoff;
  publish: (event: SourceEvent) => void;
}): (batch: Message[]) => Promise<void> {
  return async (batch) => {
    const messages = batch.map(describe);
    const messageIds = messages.map(({ messageId }) => messageId);
    const result = await lambda.invoke(toSqsEvent(batch, queueArn), (at) =>
      publish({ type: "invoked", function: lambda.name, ...at, messages }),
    );
    const { requestId } = result;
    const about = { function: lambda.name, requestId };
    const answer = readBatchResult(result, messageIds);
    if (!answer.valid) {
      const reason = result.ok ? "invalid-response" : result.reason;
      publish({ type: "failed", ...about, reason, message: answer.problem, messages });
      publish({ type: "throttled", function: lambda.name, pauseMs: backoff.failed() });
      return;
    }
    backoff.succeeded();
    const memory = result.ok ? result.memory : undefined;
    publish({ type: "responded", ...about, messageIds, failures: answer.failed, memory });
    const done = batch.filter((message) => !answer.failed.includes(message.MessageId ?? ""));
    for (const { deleted, problem } of await queue.remove(done)) {
      if (deleted.length > 0) publish({ type: "deleted", ...about, messageIds: deleted });
      if (problem !== undefined) publish({ type: "not deleted", ...about, message: problem });
    }
  };
}

function describe(message: Message): DeliveredMessage {
  return {
    messageId: message.MessageId ?? "",
    receiptHandle: message.ReceiptHandle ?? "",
    body: message.Body ?? "",
    receiveCount: Number(message.Attributes?.ApproximateReceiveCount),
  };
}
