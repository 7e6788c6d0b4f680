// One batch's way: into the function, and out of the queue as far as the function answered for it.
import type { Message } from "@aws-sdk/client-sqs";

import type { BackOff } from "./backoff.ts";
import { readBatchResponse } from "./batch-response.ts";
import type { BatchVerdict } from "./batch-response.ts";
import type { EventSourceEvent } from "./events.ts";
import type { LambdaFunction } from "./function.ts";
import type { InvocationResult } from "./invocation.ts";
import type { QueueClient } from "./queue-client.ts";
import { toSqsEvent } from "./sqs-event.ts";

/** Returns the function that delivers a batch; it never rejects. */
export function createDelivery({
  queue,
  queueArn,
  lambda,
  backOff,
  emit,
}: {
  queue: QueueClient;
  queueArn: string;
  lambda: LambdaFunction;
  backOff: BackOff;
  emit: (event: EventSourceEvent) => void;
}): (batch: Message[]) => Promise<void> {
  return async (batch) => {
    emit({ type: "received", messages: batch.map(describe) });
    const messageIds = batch.map((message) => message.MessageId ?? "");
    const result = await lambda.invoke(toSqsEvent(batch, queueArn), (at) =>
      emit({ type: "invoked", ...at, messageIds }),
    );
    const { requestId } = result;
    const verdict = judge(result, messageIds);
    if (!verdict.valid) {
      const reason = result.ok ? "invalid-response" : result.reason;
      emit({ type: "failed", requestId, reason, message: verdict.problem, messageIds });
      emit({ type: "throttled", pauseMs: backOff.failed() });
      return;
    }
    backOff.succeeded();
    emit({ type: "responded", requestId, messageIds, failures: verdict.failed });
    const done = batch.filter((message) => !verdict.failed.includes(message.MessageId ?? ""));
    for (const { deleted, problem } of await queue.remove(done)) {
      if (deleted.length > 0) emit({ type: "deleted", messageIds: deleted });
      if (problem !== undefined) emit({ type: "queue-error", action: "delete", message: problem });
    }
  };
}

function judge(result: InvocationResult, messageIds: string[]): BatchVerdict {
  return result.ok
    ? readBatchResponse(result.payload, new Set(messageIds))
    : { valid: false, problem: result.errorMessage };
}

function describe(message: Message) {
  return {
    messageId: message.MessageId ?? "",
    receiptHandle: message.ReceiptHandle ?? "",
    body: message.Body ?? "",
    receiveCount: Number(message.Attributes?.ApproximateReceiveCount),
  };
}
