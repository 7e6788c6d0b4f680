// Sends messages to one queue.

import { SendMessageCommand } from "@aws-sdk/client-sqs";
import type { SQSClient } from "@aws-sdk/client-sqs";

import { withTimeLimit } from "../net/time-limit.ts";

/** Resolves once SQS has the message. `group` is for fair queues: who the message is for. */
export type SendMessage = (body: string, group?: string) => Promise<void>;

export function messageSender(client: SQSClient, queueUrl: string, timeoutMs: number): SendMessage {
  return async (body, group) => {
    const command = new SendMessageCommand({
      QueueUrl: queueUrl,
      MessageBody: body,
      ...(group !== undefined && { MessageGroupId: group }),
    });
    await withTimeLimit(timeoutMs, (options) => client.send(command, options));
  };
}
