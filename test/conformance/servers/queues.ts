// SQS over HTTP as the queue's scenarios see it.

import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ListMessageMoveTasksCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  StartMessageMoveTaskCommand,
} from "@aws-sdk/client-sqs";
import type { SQSClient } from "@aws-sdk/client-sqs";

import type { QueueSubject, Received } from "../scenarios/queue.ts";
import type { SqsSubject } from "../scenarios/sqs-api.ts";

let made = 0;

/** Makes a queue and its dead-letter queue; as the scenarios want them when nothing else is said. */
export async function createQueues(
  client: SQSClient,
  settings = { visibilityTimeoutSeconds: 4, maxReceiveCount: 3 },
): Promise<SqsSubject> {
  const name = `queue-${++made}`;
  const create = async (QueueName: string, Attributes: Record<string, string>) => {
    const { QueueUrl = "" } = await client.send(new CreateQueueCommand({ QueueName, Attributes }));
    return QueueUrl;
  };
  const dlqUrl = await create(`${name}-dlq`, {});
  const { Attributes } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl: dlqUrl, AttributeNames: ["QueueArn"] }),
  );
  const dlqArn = Attributes?.["QueueArn"] ?? "";
  const queueUrl = await create(name, {
    VisibilityTimeout: String(settings.visibilityTimeoutSeconds),
    RedrivePolicy: JSON.stringify({
      deadLetterTargetArn: dlqArn,
      maxReceiveCount: settings.maxReceiveCount,
    }),
  });
  return { client, queueUrl, dlqUrl, dlqArn };
}

export function queueSubject({ client, queueUrl, dlqUrl, dlqArn }: SqsSubject): QueueSubject {
  const receiveFrom = async (url: string, waitSeconds: number): Promise<Received[]> => {
    const command = new ReceiveMessageCommand({
      QueueUrl: url,
      MaxNumberOfMessages: 10,
      WaitTimeSeconds: waitSeconds,
      MessageSystemAttributeNames: ["All"],
    });
    const { Messages = [] } = await client.send(command);
    return Messages.map(({ MessageId = "", ReceiptHandle = "", Body = "", Attributes }) => ({
      sqsMessageId: MessageId,
      receipt: ReceiptHandle,
      body: Body,
      receiveCount: Number(Attributes?.ApproximateReceiveCount),
    }));
  };

  return {
    async send(body) {
      const sent = await client.send(
        new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: body }),
      );
      return sent.MessageId ?? "";
    },
    receive: () => receiveFrom(queueUrl, 0),
    receiveLater: () => receiveFrom(queueUrl, 10),
    remove: (receipt) =>
      client.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle: receipt })),
    setVisibility: (receipt, seconds) =>
      client.send(
        new ChangeMessageVisibilityCommand({
          QueueUrl: queueUrl,
          ReceiptHandle: receipt,
          VisibilityTimeout: seconds,
        }),
      ),
    pass: (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1_000)),
    async deadLetters() {
      const received = await receiveFrom(dlqUrl, 0);
      return received.map(({ body }) => body);
    },
    async redrive() {
      await client.send(new StartMessageMoveTaskCommand({ SourceArn: dlqArn }));
      for (;;) {
        const { Results = [] } = await client.send(
          new ListMessageMoveTasksCommand({ SourceArn: dlqArn }),
        );
        if (Results[0]?.Status !== "RUNNING") return;
      }
    },
  };
}
