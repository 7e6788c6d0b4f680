import {
  CancelMessageMoveTaskCommand,
  CreateQueueCommand,
  DeleteQueueCommand,
  ListMessageMoveTasksCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  StartMessageMoveTaskCommand,
} from "@aws-sdk/client-sqs";
import type { SQSClient } from "@aws-sdk/client-sqs";
import { expect, onTestFinished, test } from "vitest";

import { createFauxqs } from "../../local/queue/fauxqs.ts";
import { createMoveTasks } from "../../local/queue/move-tasks.ts";
import { failureOf, startedQueue } from "./aws-fixture.ts";

const send = (QueueUrl: string, MessageBody: string) =>
  new SendMessageCommand({ QueueUrl, MessageBody });

/** Sends messages to a queue whose messages are dead after one receive, and lets them die. */
async function sendToDie(client: SQSClient, queueUrl: string, bodies: string[]): Promise<void> {
  for (const body of bodies) await client.send(send(queueUrl, body));
  await letDie(client, queueUrl);
}

async function letDie(client: SQSClient, QueueUrl: string): Promise<void> {
  const receive = new ReceiveMessageCommand({
    QueueUrl,
    MaxNumberOfMessages: 10,
    VisibilityTimeout: 0,
  });
  await client.send(receive);
  await client.send(receive);
}

async function latestTask(client: SQSClient, SourceArn: string) {
  const { Results } = await client.send(new ListMessageMoveTasksCommand({ SourceArn }));
  return Results?.[0];
}

const ended = (client: SQSClient, sourceArn: string) =>
  expect
    .poll(async () => (await latestTask(client, sourceArn))?.Status, { timeout: 10_000 })
    .not.toMatch(/RUNNING|CANCELLING/);

test("a redriven message is a new message with the same body and attributes", async () => {
  const { queue, queueUrl, dlqUrl, dlqArn, client } = await startedQueue();
  const MessageAttributes = { origin: { DataType: "String", StringValue: "shop" } };
  const sent = await client.send(
    new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: "hello", MessageAttributes }),
  );
  await letDie(client, queueUrl);
  const [dead] = await queue.messages(dlqUrl);
  await expect.poll(() => Date.now()).toBeGreaterThan(dead?.sentAtMs ?? Infinity);

  await client.send(new StartMessageMoveTaskCommand({ SourceArn: dlqArn }));
  await ended(client, dlqArn);
  const [moved] = await queue.messages(queueUrl);
  const { Messages } = await client.send(
    new ReceiveMessageCommand({
      QueueUrl: queueUrl,
      MessageAttributeNames: ["All"],
      MessageSystemAttributeNames: ["ApproximateReceiveCount"],
    }),
  );

  expect(dead?.sqsMessageId).toBe(sent.MessageId);
  expect(moved).toMatchObject({ body: "hello", receiveCount: 0, state: "visible" });
  expect(moved?.sqsMessageId).not.toBe(sent.MessageId);
  expect(moved?.sentAtMs).toBeGreaterThan(dead?.sentAtMs ?? Infinity);
  expect(Messages).toMatchObject([
    {
      MessageId: moved?.sqsMessageId,
      MessageAttributes,
      Attributes: { ApproximateReceiveCount: "1" },
    },
  ]);
  expect(await queue.messages(dlqUrl)).toEqual([]);
});

test("a task that is done reports what it did, without a handle and without a destination", async () => {
  const { queueUrl, dlqArn, client } = await startedQueue();
  await sendToDie(client, queueUrl, ["a", "b"]);
  const startedMs = Date.now();

  const { TaskHandle } = await client.send(new StartMessageMoveTaskCommand({ SourceArn: dlqArn }));
  await ended(client, dlqArn);
  const task = await latestTask(client, dlqArn);

  expect(TaskHandle).toEqual(expect.any(String));
  expect(task).toEqual({
    Status: "COMPLETED",
    SourceArn: dlqArn,
    ApproximateNumberOfMessagesMoved: 2,
    ApproximateNumberOfMessagesToMove: 2,
    StartedTimestamp: expect.any(Number),
  });
  expect(task?.StartedTimestamp).toBeGreaterThanOrEqual(startedMs);
});

test("each message goes back to the queue that it came from, also the second time", async () => {
  const { queue, queueUrl, dlqArn, client } = await startedQueue();
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: dlqArn, maxReceiveCount: 1 });
  const { QueueUrl: otherUrl = "" } = await client.send(
    new CreateQueueCommand({ QueueName: "orders", Attributes: { RedrivePolicy } }),
  );
  await client.send(send(queueUrl, "first queue"));
  await client.send(send(otherUrl, "second queue"));

  for (const round of [1, 2]) {
    await letDie(client, queueUrl);
    await letDie(client, otherUrl);
    await client.send(new StartMessageMoveTaskCommand({ SourceArn: dlqArn }));
    await ended(client, dlqArn);
    const task = await latestTask(client, dlqArn);

    expect(task, `round ${round}`).toMatchObject({
      Status: "COMPLETED",
      ApproximateNumberOfMessagesMoved: 2,
    });
    expect(await queue.messages(queueUrl)).toMatchObject([{ body: "first queue" }]);
    expect(await queue.messages(otherUrl)).toMatchObject([{ body: "second queue" }]);
  }
});

test("a message that was sent straight to the dead-letter queue cannot go back", async () => {
  const { queue, dlqUrl, dlqArn, client } = await startedQueue();
  await client.send(send(dlqUrl, "by hand"));

  await client.send(new StartMessageMoveTaskCommand({ SourceArn: dlqArn }));
  await ended(client, dlqArn);

  expect(await latestTask(client, dlqArn)).toMatchObject({
    Status: "FAILED",
    FailureReason: "CouldNotDetermineMessageSource",
    ApproximateNumberOfMessagesMoved: 0,
    ApproximateNumberOfMessagesToMove: 1,
  });
  expect(await queue.messages(dlqUrl)).toMatchObject([{ body: "by hand", state: "visible" }]);
});

test("with a destination any message can be moved, also one that was sent by hand", async () => {
  const { queue, queueUrl, queueArn, dlqUrl, dlqArn, client } = await startedQueue();
  await client.send(send(dlqUrl, "by hand"));

  await client.send(
    new StartMessageMoveTaskCommand({ SourceArn: dlqArn, DestinationArn: queueArn }),
  );
  await ended(client, dlqArn);

  expect(await latestTask(client, dlqArn)).toMatchObject({
    Status: "COMPLETED",
    DestinationArn: queueArn,
    ApproximateNumberOfMessagesMoved: 1,
  });
  expect(await queue.messages(queueUrl)).toMatchObject([{ body: "by hand" }]);
  expect(await queue.messages(dlqUrl)).toEqual([]);
});

test("what is in flight in the dead-letter queue, and what comes to it later, stays there", async () => {
  const { queue, queueUrl, dlqUrl, dlqArn, client } = await startedQueue();
  await sendToDie(client, queueUrl, ["in flight"]);
  await client.send(new ReceiveMessageCommand({ QueueUrl: dlqUrl }));
  await sendToDie(client, queueUrl, ["visible"]);

  await client.send(
    new StartMessageMoveTaskCommand({ SourceArn: dlqArn, MaxNumberOfMessagesPerSecond: 5 }),
  );
  await client.send(send(dlqUrl, "later"));
  await ended(client, dlqArn);

  expect(await latestTask(client, dlqArn)).toMatchObject({
    Status: "COMPLETED",
    ApproximateNumberOfMessagesMoved: 1,
  });
  expect(await queue.messages(queueUrl)).toMatchObject([{ body: "visible" }]);
  expect(await queue.messages(dlqUrl)).toMatchObject([
    { body: "later", state: "visible" },
    { body: "in flight", state: "in flight" },
  ]);
});

test("messages move no faster than they may, and a task can be cancelled", async () => {
  const { queue, queueUrl, dlqUrl, dlqArn, client } = await startedQueue();
  await sendToDie(client, queueUrl, ["a", "b", "c", "d", "e", "f"]);

  const { TaskHandle } = await client.send(
    new StartMessageMoveTaskCommand({ SourceArn: dlqArn, MaxNumberOfMessagesPerSecond: 4 }),
  );
  await expect.poll(() => queue.messages(queueUrl), { timeout: 10_000 }).toHaveLength(3);
  const running = await latestTask(client, dlqArn);
  const cancelled = await client.send(new CancelMessageMoveTaskCommand({ TaskHandle }));
  await ended(client, dlqArn);
  const moved = await queue.messages(queueUrl);
  const again = await failureOf(client.send(new CancelMessageMoveTaskCommand({ TaskHandle })));

  expect(running).toMatchObject({
    Status: "RUNNING",
    TaskHandle,
    MaxNumberOfMessagesPerSecond: 4,
    ApproximateNumberOfMessagesToMove: 6,
  });
  expect(cancelled.ApproximateNumberOfMessagesMoved).toBe(moved.length);
  expect(await latestTask(client, dlqArn)).toMatchObject({
    Status: "CANCELLED",
    ApproximateNumberOfMessagesMoved: moved.length,
  });
  // A quarter of a second lies between two messages; a timer may fire a millisecond early.
  expect((moved[2]?.sentAtMs ?? 0) - (moved[0]?.sentAtMs ?? 0)).toBeGreaterThanOrEqual(490);
  expect(await queue.messages(dlqUrl)).toHaveLength(6 - moved.length);
  expect(again.name).toBe("UnsupportedOperation");
});

test("a task is CANCELLING until the message that it is moving has arrived", async () => {
  const { queueUrl, dlqArn, client } = await startedQueue();
  await sendToDie(client, queueUrl, ["a", "b"]);
  const { TaskHandle } = await client.send(
    new StartMessageMoveTaskCommand({ SourceArn: dlqArn, MaxNumberOfMessagesPerSecond: 1 }),
  );

  const [, second] = await Promise.all([
    client.send(new CancelMessageMoveTaskCommand({ TaskHandle })),
    failureOf(client.send(new CancelMessageMoveTaskCommand({ TaskHandle }))),
  ]);
  await ended(client, dlqArn);

  expect(second.name).toBe("UnsupportedOperation");
  expect((await latestTask(client, dlqArn))?.Status).toBe("CANCELLED");
});

test("a queue has one task at a time, and the next when it has ended", async () => {
  const { queueUrl, dlqArn, client } = await startedQueue();
  await sendToDie(client, queueUrl, ["a", "b"]);
  const start = new StartMessageMoveTaskCommand({
    SourceArn: dlqArn,
    MaxNumberOfMessagesPerSecond: 1,
  });
  const { TaskHandle } = await client.send(start);

  const failure = await failureOf(client.send(start));
  await client.send(new CancelMessageMoveTaskCommand({ TaskHandle }));
  await ended(client, dlqArn);
  await client.send(new StartMessageMoveTaskCommand({ SourceArn: dlqArn }));
  await ended(client, dlqArn);
  const { Results } = await client.send(
    new ListMessageMoveTasksCommand({ SourceArn: dlqArn, MaxResults: 10 }),
  );

  expect(failure).toMatchObject({
    name: "InvalidParameterValue",
    message:
      "There is already a task running. Only one active task is allowed for a source queue arn at a given time.",
  });
  expect(Results?.map(({ Status }) => Status)).toEqual(["COMPLETED", "CANCELLED"]);
});

test("a task whose destination is deleted fails, and the rest stays", async () => {
  const { queue, queueUrl, dlqUrl, dlqArn, client } = await startedQueue();
  await sendToDie(client, queueUrl, ["a", "b"]);
  await client.send(
    new StartMessageMoveTaskCommand({ SourceArn: dlqArn, MaxNumberOfMessagesPerSecond: 4 }),
  );
  await expect.poll(() => queue.messages(queueUrl)).toHaveLength(1);

  await client.send(new DeleteQueueCommand({ QueueUrl: queueUrl }));
  await ended(client, dlqArn);

  expect(await latestTask(client, dlqArn)).toMatchObject({
    Status: "FAILED",
    FailureReason: "AWS.SimpleQueueService.NonExistentQueue",
    ApproximateNumberOfMessagesMoved: 1,
  });
  expect(await queue.messages(dlqUrl)).toMatchObject([{ body: "b", state: "visible" }]);
});

test("stopping the tasks ends the one that runs where it is", async () => {
  const fauxqs = createFauxqs();
  onTestFinished(() => fauxqs.close());
  const sourceArn = "arn:aws:sqs:us-east-1:000000000000:dead";
  await fauxqs.call("CreateQueue", { QueueName: "dead" });
  await fauxqs.call("CreateQueue", {
    QueueName: "payments",
    Attributes: {
      RedrivePolicy: JSON.stringify({ deadLetterTargetArn: sourceArn, maxReceiveCount: 1 }),
    },
  });
  const origins = new Map<string, string>();
  for (const MessageBody of ["a", "b"]) {
    const sent = await fauxqs.call<{ MessageId: string }>("SendMessage", {
      QueueUrl: "dead",
      MessageBody,
    });
    origins.set(sent.MessageId, "payments");
  }
  const tasks = createMoveTasks(fauxqs, origins);
  await tasks.start({ SourceArn: sourceArn, MaxNumberOfMessagesPerSecond: 1 });
  await expect
    .poll(async () => (await fauxqs.queue("payments"))?.messages.ready)
    .toMatchObject([{ body: "a" }]);

  await tasks.stop();

  const { body } = await tasks.list({ SourceArn: sourceArn });
  expect(JSON.parse(body)).toMatchObject({
    Results: [{ Status: "CANCELLED", ApproximateNumberOfMessagesMoved: 1 }],
  });
});

const NOWHERE = "arn:aws:sqs:us-east-1:000000000000:nowhere";
const handle = (content: object) => Buffer.from(JSON.stringify(content)).toString("base64");

test.for([
  {
    why: "a source that does not exist",
    input: { SourceArn: NOWHERE },
    name: "ResourceNotFoundException",
    message: "The resource that you specified for the SourceArn parameter doesn't exist.",
  },
  {
    why: "a source that is nobody's dead-letter queue",
    input: { SourceArn: "arn:aws:sqs:us-east-1:000000000000:payments" },
    name: "InvalidParameterValue",
    message: "Source queue must be configured as a Dead Letter Queue.",
  },
  {
    why: "a destination that does not exist",
    input: { DestinationArn: NOWHERE },
    name: "ResourceNotFoundException",
    message: "The resource that you specified for the DestinationArn parameter doesn't exist.",
  },
  {
    why: "a rate over 500",
    input: { MaxNumberOfMessagesPerSecond: 501 },
    name: "InvalidParameterValue",
    message: "MaxNumberOfMessagesPerSecond must be between 1 and 500.",
  },
  {
    why: "a rate of 0",
    input: { MaxNumberOfMessagesPerSecond: 0 },
    name: "InvalidParameterValue",
    message: "MaxNumberOfMessagesPerSecond must be between 1 and 500.",
  },
])("a task is not started with $why", async ({ input, name, message }) => {
  const { dlqArn, client } = await startedQueue();

  const failure = await failureOf(
    client.send(new StartMessageMoveTaskCommand({ SourceArn: dlqArn, ...input })),
  );

  expect(failure).toMatchObject({ name, message });
});

test.for([
  {
    why: "is no handle",
    TaskHandle: "invented",
    name: "InvalidParameterValue",
    message: "Value for parameter TaskHandle is invalid.",
  },
  {
    why: "names a queue that does not exist",
    TaskHandle: handle({ taskId: "t", sourceArn: NOWHERE }),
    name: "ResourceNotFoundException",
    message: "The resource that you specified for the SourceArn parameter doesn't exist.",
  },
  {
    why: "names no task",
    TaskHandle: handle({
      taskId: "t",
      sourceArn: "arn:aws:sqs:us-east-1:000000000000:payments-dlq",
    }),
    name: "ResourceNotFoundException",
    message: "Task does not exist.",
  },
])("a task is not cancelled by a handle that $why", async ({ TaskHandle, name, message }) => {
  const { client } = await startedQueue();

  const failure = await failureOf(client.send(new CancelMessageMoveTaskCommand({ TaskHandle })));

  expect(failure).toMatchObject({ name, message });
});

test("the tasks of a queue that does not exist, or too many of them, cannot be listed", async () => {
  const { dlqArn, client } = await startedQueue();

  const nowhere = await failureOf(
    client.send(new ListMessageMoveTasksCommand({ SourceArn: NOWHERE })),
  );
  const tooMany = await failureOf(
    client.send(new ListMessageMoveTasksCommand({ SourceArn: dlqArn, MaxResults: 11 })),
  );

  expect(nowhere.name).toBe("ResourceNotFoundException");
  expect(tooMany.name).toBe("InvalidParameterValue");
});
