// The three SQS calls of an event source: receive, delete, hang up.
import { DeleteMessageBatchCommand, ReceiveMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import type { Message } from "@aws-sdk/client-sqs";

export type QueueClient = {
  /** Long-polls for up to `waitSeconds`; at most 10 messages, SQS's limit. Rejects when aborted. */
  receive(most: number, waitSeconds: number, signal: AbortSignal): Promise<Message[]>;
  /** Deletes in requests of 10. Never rejects: what failed is in the answer, and comes again. */
  remove(messages: Message[]): Promise<{ deleted: string[]; problem?: string }[]>;
  close(): void;
};

export function openQueue(endpoint: string, queueUrl: string): QueueClient {
  const client = new SQSClient({
    endpoint,
    region: "us-east-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
    // The queue's URL names the host that created it; the endpoint is where it is now.
    useQueueUrlAsEndpoint: false,
  });

  async function removeTen(messages: Message[]): Promise<{ deleted: string[]; problem?: string }> {
    const idOf = (entry: string | undefined): string => messages[Number(entry)]?.MessageId ?? "";
    try {
      const { Successful = [], Failed = [] } = await client.send(
        new DeleteMessageBatchCommand({
          QueueUrl: queueUrl,
          Entries: messages.map((message, index) => ({
            Id: String(index),
            ReceiptHandle: message.ReceiptHandle,
          })),
        }),
      );
      const deleted = Successful.map((entry) => idOf(entry.Id));
      return Failed.length === 0
        ? { deleted }
        : {
            deleted,
            problem: Failed.map((entry) => `${idOf(entry.Id)}: ${entry.Code ?? ""}`).join(", "),
          };
    } catch (error) {
      return { deleted: [], problem: String(error) };
    }
  }

  return {
    async receive(most, waitSeconds, signal) {
      const { Messages = [] } = await client.send(
        new ReceiveMessageCommand({
          QueueUrl: queueUrl,
          MaxNumberOfMessages: most,
          WaitTimeSeconds: waitSeconds,
          MessageSystemAttributeNames: ["All"],
          MessageAttributeNames: ["All"],
        }),
        { abortSignal: signal },
      );
      return Messages;
    },

    async remove(messages) {
      const tens: Message[][] = [];
      for (let at = 0; at < messages.length; at += 10) tens.push(messages.slice(at, at + 10));
      return Promise.all(tens.map(removeTen));
    },

    close: () => client.destroy(),
  };
}
