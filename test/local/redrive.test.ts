// What the local queue's redrive does beyond the scenarios of test/conformance.
import {
  CancelMessageMoveTaskCommand,
  CreateQueueCommand,
  ListMessageMoveTasksCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  StartMessageMoveTaskCommand,
} from "@aws-sdk/client-sqs";
import type { StartMessageMoveTaskCommandInput } from "@aws-sdk/client-sqs";
import { expect, onTestFinished, test } from "vitest";

import { createFauxqs } from "../../local/queue/fauxqs.ts";
import { createMoveTasks } from "../../local/queue/move-tasks.ts";
import { failureOf, startedQueue } from "./aws-fixture.ts";

/** A queue whose messages are dead after one receive, and its redrive. */
async function prepare() {
  const started = await startedQueue();
  const { client, queueUrl, dlqArn } = started;
  const send = (QueueUrl: string, MessageBody: string) =>
    client.send(new SendMessageCommand({ QueueUrl, MessageBody }));
  const die = async (QueueUrl = queueUrl) => {
    const receive = { QueueUrl, MaxNumberOfMessages: 10, VisibilityTimeout: 0 };
    for (const _ of [1, 2]) await client.send(new ReceiveMessageCommand(receive));
  };
  const start = (input: Partial<StartMessageMoveTaskCommandInput> = {}) =>
    client.send(new StartMessageMoveTaskCommand({ SourceArn: dlqArn, ...input }));
  const tasks = async () =>
    (await client.send(new ListMessageMoveTasksCommand({ SourceArn: dlqArn, MaxResults: 10 })))
      .Results ?? [];
  /** The newest task, once it has ended. */
  const ended = async () => {
    await expect
      .poll(async () => (await tasks())[0]?.Status, { timeout: 10_000 })
      .not.toMatch(/RUNNING|CANCELLING/);
    return (await tasks())[0];
  };
  return {
    ...started,
    send,
    die,
    deadLetters: async (...bodies: string[]) => {
      for (const body of bodies) await send(queueUrl, body);
      await die();
    },
    start,
    tasks,
    ended,
    cancel: (TaskHandle: string | undefined) =>
      client.send(new CancelMessageMoveTaskCommand({ TaskHandle })),
  };
}

test("a redriven message is a new message with the same attributes, as new as its move", async () => {
  const { queue, queueUrl, dlqUrl, client, die, start, ended } = await prepare();
  const MessageAttributes = { origin: { DataType: "String", StringValue: "shop" } };
  const sent = await client.send(
    new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: "hello", MessageAttributes }),
  );
  await die();
  const [dead] = await queue.messages(dlqUrl);
  await expect.poll(() => Date.now()).toBeGreaterThan(dead?.sentAtMs ?? Infinity);

  await start();
  await ended();
  const [moved] = await queue.messages(queueUrl);
  const { Messages } = await client.send(
    new ReceiveMessageCommand({ QueueUrl: queueUrl, MessageAttributeNames: ["All"] }),
  );

  expect(dead?.sqsMessageId).toBe(sent.MessageId);
  expect(moved).toMatchObject({ body: "hello", receiveCount: 0, state: "visible" });
  expect(moved?.sentAtMs).toBeGreaterThan(dead?.sentAtMs ?? Infinity);
  expect(Messages).toMatchObject([{ MessageId: moved?.sqsMessageId, MessageAttributes }]);
  expect(await queue.messages(dlqUrl)).toEqual([]);
});

test("a task that is done reports what it did, without a handle and without a destination", async () => {
  const { dlqArn, deadLetters, start, ended } = await prepare();
  await deadLetters("a", "b");
  const startedMs = Date.now();

  const { TaskHandle } = await start();
  const task = await ended();

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
  const { queue, queueUrl, dlqArn, client, send, die, start, ended } = await prepare();
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: dlqArn, maxReceiveCount: 1 });
  const { QueueUrl: otherUrl = "" } = await client.send(
    new CreateQueueCommand({ QueueName: "orders", Attributes: { RedrivePolicy } }),
  );
  await send(queueUrl, "first queue");
  await send(otherUrl, "second queue");

  for (const round of [1, 2]) {
    await die(queueUrl);
    await die(otherUrl);
    await start();

    expect(await ended(), `round ${round}`).toMatchObject({ ApproximateNumberOfMessagesMoved: 2 });
    expect(await queue.messages(queueUrl)).toMatchObject([{ body: "first queue" }]);
    expect(await queue.messages(otherUrl)).toMatchObject([{ body: "second queue" }]);
  }
});

test("a message that was sent straight to the dead-letter queue moves only to a destination", async () => {
  const { queue, queueUrl, queueArn, dlqUrl, send, start, ended } = await prepare();
  await send(dlqUrl, "by hand");

  await start();
  const back = await ended();
  const left = await queue.messages(dlqUrl);
  await start({ DestinationArn: queueArn });

  expect(back).toMatchObject({
    Status: "FAILED",
    FailureReason: "CouldNotDetermineMessageSource",
    ApproximateNumberOfMessagesMoved: 0,
  });
  expect(left).toMatchObject([{ body: "by hand", state: "visible" }]);
  expect(await ended()).toMatchObject({ Status: "COMPLETED", DestinationArn: queueArn });
  expect(await queue.messages(queueUrl)).toMatchObject([{ body: "by hand" }]);
});

test("what is in flight in the dead-letter queue, and what comes to it later, stays there", async () => {
  const { queue, queueUrl, dlqUrl, client, send, deadLetters, start, ended } = await prepare();
  await deadLetters("in flight");
  await client.send(new ReceiveMessageCommand({ QueueUrl: dlqUrl }));
  await deadLetters("visible");

  await start({ MaxNumberOfMessagesPerSecond: 5 });
  await send(dlqUrl, "later");

  expect(await ended()).toMatchObject({
    Status: "COMPLETED",
    ApproximateNumberOfMessagesMoved: 1,
  });
  expect(await queue.messages(queueUrl)).toMatchObject([{ body: "visible" }]);
  expect(await queue.messages(dlqUrl)).toMatchObject([
    { body: "later", state: "visible" },
    { body: "in flight", state: "in flight" },
  ]);
});

test("messages move no faster than they may, one task at a time, and a task can be cancelled once", async () => {
  const { queue, queueUrl, dlqUrl, deadLetters, start, tasks, ended, cancel } = await prepare();
  await deadLetters("a", "b", "c", "d", "e", "f");

  const { TaskHandle } = await start({ MaxNumberOfMessagesPerSecond: 4 });
  await expect.poll(() => queue.messages(queueUrl), { timeout: 10_000 }).toHaveLength(3);
  const [running] = await tasks();
  const second = await failureOf(start());
  const [cancelled, twice] = await Promise.all([cancel(TaskHandle), failureOf(cancel(TaskHandle))]);
  const task = await ended();
  const moved = await queue.messages(queueUrl);
  const left = await queue.messages(dlqUrl);
  await start();
  await ended();

  expect(running).toMatchObject({
    Status: "RUNNING",
    TaskHandle,
    MaxNumberOfMessagesPerSecond: 4,
    ApproximateNumberOfMessagesToMove: 6,
  });
  expect(second).toMatchObject({
    name: "InvalidParameterValue",
    message:
      "There is already a task running. Only one active task is allowed for a source queue arn at a given time.",
  });
  expect(twice.name).toBe("UnsupportedOperation");
  expect(cancelled.ApproximateNumberOfMessagesMoved).toBe(moved.length);
  expect(task).toMatchObject({ ApproximateNumberOfMessagesMoved: moved.length });
  // A quarter of a second lies between two messages; a timer may fire a millisecond early.
  expect((moved[2]?.sentAtMs ?? 0) - (moved[0]?.sentAtMs ?? 0)).toBeGreaterThanOrEqual(490);
  expect(left).toHaveLength(6 - moved.length);
  expect((await tasks()).map(({ Status }) => Status)).toEqual(["COMPLETED", "CANCELLED"]);
});

test("stopping the tasks ends the one that runs where it is", async () => {
  const fauxqs = createFauxqs();
  onTestFinished(() => fauxqs.close());
  const SourceArn = "arn:aws:sqs:us-east-1:000000000000:dead";
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: SourceArn, maxReceiveCount: 1 });
  await fauxqs.call("CreateQueue", { QueueName: "dead" });
  await fauxqs.call("CreateQueue", { QueueName: "payments", Attributes: { RedrivePolicy } });
  const origins = new Map<string, string>();
  for (const MessageBody of ["a", "b"]) {
    const message = { QueueUrl: "dead", MessageBody };
    const { MessageId } = await fauxqs.call<{ MessageId: string }>("SendMessage", message);
    origins.set(MessageId, "payments");
  }
  const tasks = createMoveTasks(fauxqs, origins);
  await tasks.start({ SourceArn, MaxNumberOfMessagesPerSecond: 1 });
  await expect
    .poll(async () => (await fauxqs.queue("payments"))?.messages.ready)
    .toMatchObject([{ body: "a" }]);

  await tasks.stop();

  const { body } = await tasks.list({ SourceArn });
  expect(JSON.parse(body)).toMatchObject({
    Results: [{ Status: "CANCELLED", ApproximateNumberOfMessagesMoved: 1 }],
  });
});

const NOWHERE = "arn:aws:sqs:us-east-1:000000000000:nowhere";
const DLQ = "arn:aws:sqs:us-east-1:000000000000:payments-dlq";
const start = (input: object) => new StartMessageMoveTaskCommand({ SourceArn: DLQ, ...input });
const notFound = (name: string) => [
  "ResourceNotFoundException",
  `The resource that you specified for the ${name} parameter doesn't exist.`,
];
const RATE = "MaxNumberOfMessagesPerSecond must be between 1 and 500.";

test.each([
  ["a start to nowhere", start({ DestinationArn: NOWHERE }), notFound("DestinationArn")],
  [
    "a rate over 500",
    start({ MaxNumberOfMessagesPerSecond: 501 }),
    ["InvalidParameterValue", RATE],
  ],
  ["a rate of 0", start({ MaxNumberOfMessagesPerSecond: 0 }), ["InvalidParameterValue", RATE]],
  [
    "a cancel of no task",
    new CancelMessageMoveTaskCommand({ TaskHandle: "invented" }),
    ["ResourceNotFoundException", "Task does not exist."],
  ],
  [
    "a list of no queue",
    new ListMessageMoveTasksCommand({ SourceArn: NOWHERE }),
    notFound("SourceArn"),
  ],
] as [string, StartMessageMoveTaskCommand, [string, string]][])(
  "%s is an error",
  async (_, command, [name, message]) => {
    const { client } = await startedQueue();

    expect(await failureOf(client.send(command))).toMatchObject({ name, message });
  },
);
