// What the local queue adds to SQS's own behavior, which test/conformance holds it to.

import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  ListQueuesCommand,
  PurgeQueueCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SetQueueAttributesCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { expect, onTestFinished, test } from "vitest";

import { startQueue } from "../../local/queue/server.ts";
import { failureOf, queueClient, startedQueue } from "./aws-fixture.ts";

const send = (QueueUrl: string, MessageBody: string) =>
  new SendMessageCommand({ QueueUrl, MessageBody });

async function attributesOf(client: SQSClient, QueueUrl: string) {
  const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] });
  return (await client.send(command)).Attributes ?? {};
}

const bodies = (messages: { body: string }[]) => messages.map(({ body }) => body);

test("createQueues makes a queue and its dead-letter queue with the settings it was given", async () => {
  const { queue, client } = await startedQueue();

  const made = await queue.createQueues({
    name: "orders",
    visibilityTimeoutSeconds: 12,
    maxReceiveCount: 5,
  });
  const { RedrivePolicy = "", ...others } = await attributesOf(client, made.queueUrl);

  expect(made).toEqual({
    queueUrl: `${queue.url}/000000000000/orders`,
    queueArn: "arn:aws:sqs:us-east-1:000000000000:orders",
    dlqUrl: `${queue.url}/000000000000/orders-dlq`,
    dlqArn: "arn:aws:sqs:us-east-1:000000000000:orders-dlq",
  });
  expect(others).toMatchObject({
    QueueArn: made.queueArn,
    VisibilityTimeout: "12",
  });
  expect(JSON.parse(RedrivePolicy)).toEqual({
    deadLetterTargetArn: made.dlqArn,
    maxReceiveCount: 5,
  });
  expect(await attributesOf(client, made.dlqUrl)).toMatchObject({
    QueueArn: made.dlqArn,
    MessageRetentionPeriod: "1209600",
  });
});

test("every queue URL that the server gives resolves to the server", async () => {
  const { queue, queueUrl, client } = await startedQueue();

  const created = await client.send(new CreateQueueCommand({ QueueName: "by-client" }));
  const found = await client.send(new GetQueueUrlCommand({ QueueName: "payments" }));
  const listed = await client.send(new ListQueuesCommand({}));

  expect(created.QueueUrl).toBe(`${queue.url}/000000000000/by-client`);
  expect(found.QueueUrl).toBe(queueUrl);
  expect(listed.QueueUrls).toEqual([
    `${queue.url}/000000000000/by-client`,
    `${queue.url}/000000000000/payments`,
    `${queue.url}/000000000000/payments-dlq`,
  ]);
});

test("a client that knows only the queue URL reaches the queue", async () => {
  const { queue, queueUrl } = await startedQueue();
  const client = new SQSClient({
    region: "eu-west-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  });
  onTestFinished(() => client.destroy());

  await client.send(send(queueUrl, "hello"));

  expect(bodies(await queue.messages(queueUrl))).toEqual(["hello"]);
});

test("looking at a queue shows each message's state and changes nothing", async () => {
  const { queue, queueUrl, client } = await startedQueue();
  await client.send(send(queueUrl, "in flight"));
  await client.send(new ReceiveMessageCommand({ QueueUrl: queueUrl }));
  await client.send(send(queueUrl, "expired"));
  await client.send(new ReceiveMessageCommand({ QueueUrl: queueUrl, VisibilityTimeout: 0 }));
  await client.send(
    new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: "delayed", DelaySeconds: 900 }),
  );
  await client.send(send(queueUrl, "visible"));

  const before = await queue.messages(queueUrl);
  const after = await queue.messages(queueUrl);

  expect(after).toEqual(before);
  expect(
    Object.fromEntries(
      before.map(({ body, state, receiveCount }) => [body, [state, receiveCount]]),
    ),
  ).toEqual({
    "in flight": ["in flight", 1],
    expired: ["visible", 1],
    delayed: ["delayed", 0],
    visible: ["visible", 0],
  });
  expect(await queue.depth(queueUrl)).toEqual({ visible: 2, inFlight: 1, delayed: 1 });
  // What is visible again is not in flight, for who asks SQS either.
  expect(await attributesOf(client, queueUrl)).toMatchObject({
    ApproximateNumberOfMessages: "2",
    ApproximateNumberOfMessagesNotVisible: "1",
    ApproximateNumberOfMessagesDelayed: "1",
  });
});

test("a batch with an empty body is not accepted, as a single message with one is not", async () => {
  const { queue, queueUrl, client } = await startedQueue();
  const Entries = [
    { Id: "1", MessageBody: "b" },
    { Id: "2", MessageBody: "" },
  ];
  expect(
    await failureOf(client.send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries }))),
  ).toMatchObject({
    name: "MissingParameter",
    message: "The request must contain the parameter SendMessageBatchRequestEntry.2.MessageBody.",
  });
  expect((await failureOf(client.send(send(queueUrl, "")))).name).toMatch(/MissingParameter$/);
  expect(await queue.messages(queueUrl)).toEqual([]);
});

test("looking at a queue that does not exist says what to do", async () => {
  const { queue } = await startedQueue();

  const failure = await failureOf(queue.messages(`${queue.url}/000000000000/nowhere`));

  expect(failure.message).toBe(
    `There is no queue ${queue.url}/000000000000/nowhere: create it with createQueues.`,
  );
});

test("a receipt handle that the queue never gave out is invalid, another queue's too", async () => {
  const { queue, queueUrl, dlqUrl, client } = await startedQueue();
  await client.send(send(queueUrl, "hello"));
  const { Messages } = await client.send(new ReceiveMessageCommand({ QueueUrl: queueUrl }));
  const ReceiptHandle = Messages?.[0]?.ReceiptHandle;
  const invented = { QueueUrl: queueUrl, ReceiptHandle: "invented" };

  const elsewhere = new DeleteMessageCommand({ QueueUrl: dlqUrl, ReceiptHandle });
  expect((await failureOf(client.send(elsewhere))).name).toBe("ReceiptHandleIsInvalid");
  for (const command of [
    new DeleteMessageCommand(invented),
    new ChangeMessageVisibilityCommand({ ...invented, VisibilityTimeout: 5 }),
  ]) {
    expect(await failureOf(client.send(command as DeleteMessageCommand))).toMatchObject({
      name: "ReceiptHandleIsInvalid",
      message: 'The input receipt handle "invented" is not a valid receipt handle.',
    });
  }
  expect(bodies(await queue.messages(queueUrl))).toEqual(["hello"]);
});

test("the log has each request's action, queue, messages and how it ended", async () => {
  const { queue, queueUrl, client } = await startedQueue();
  const startedMs = Date.now();

  const at = { QueueUrl: queueUrl };
  const sent = ["b", "c"].map((MessageBody) => ({ Id: MessageBody, MessageBody }));
  await client.send(send(queueUrl, "a"));
  await client.send(new SendMessageBatchCommand({ ...at, Entries: sent }));
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({ ...at, MaxNumberOfMessages: 10 }),
  );
  const [first, ...others] = Messages.map(({ ReceiptHandle }) => ReceiptHandle);
  await client.send(
    new ChangeMessageVisibilityCommand({ ...at, ReceiptHandle: first, VisibilityTimeout: 9 }),
  );
  const deleted = others.map((ReceiptHandle, index) => ({ Id: `${index}`, ReceiptHandle }));
  await client.send(new DeleteMessageBatchCommand({ ...at, Entries: deleted }));
  await failureOf(client.send(new DeleteMessageCommand({ ...at, ReceiptHandle: "invented" })));
  await client.send(new ListQueuesCommand({}));

  const payments = { queue: "payments", result: "ok" };
  expect(queue.requests()).toMatchObject([
    { ...payments, operation: "SendMessage", bodies: ["a"] },
    { ...payments, operation: "SendMessageBatch", bodies: ["b", "c"] },
    { ...payments, operation: "ReceiveMessage", bodies: ["a", "b", "c"] },
    { ...payments, operation: "ChangeMessageVisibility", bodies: ["a"] },
    { ...payments, operation: "DeleteMessageBatch", bodies: ["b", "c"] },
    { queue: "payments", operation: "DeleteMessage", bodies: [], result: "ReceiptHandleIsInvalid" },
    { operation: "ListQueues", bodies: [], result: "ok" },
  ]);
  expect(queue.requests().every(({ atMs }) => atMs >= startedMs && atMs <= Date.now())).toBe(true);
  expect(queue.counts()).toEqual({
    SendMessage: 1,
    SendMessageBatch: 1,
    ReceiveMessage: 1,
    ChangeMessageVisibility: 1,
    DeleteMessageBatch: 1,
    DeleteMessage: 1,
    ListQueues: 1,
  });
});

test("a fault can be armed for one message by its body", async () => {
  const { queue, queueUrl, client } = await startedQueue();
  const seen: string[][] = [];
  queue.faults.add(
    { operation: "DeleteMessage", where: ({ bodies }) => bodies.includes("b") },
    { kind: "hook", at: "received", run: ({ bodies }) => void seen.push(bodies) },
  );
  for (const body of ["a", "b"]) await client.send(send(queueUrl, body));
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: 10 }),
  );

  for (const { ReceiptHandle } of Messages) {
    await client.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle }));
  }

  expect(seen).toEqual([["b"]]);
});

test.each([
  '{"url":"http://sqs.us-east-1.localhost:4566/000000000000/payments","é":"😀"}',
  "\t\n\r order-😀 \u{10FFFF} \uFFFD",
])("the body %j arrives as it was sent", async (body) => {
  const { queueUrl, client } = await startedQueue();
  await client.send(send(queueUrl, body));
  const Entries = [{ Id: "1", MessageBody: body }];
  await client.send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries }));

  const { Messages } = await client.send(
    new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: 10 }),
  );

  expect(Messages?.map(({ Body }) => Body)).toEqual([body, body]);
});

test("a character that SQS does not allow is rejected", async () => {
  const { queueUrl, client } = await startedQueue();

  const failure = await failureOf(client.send(send(queueUrl, "\u0000")));

  expect(failure.message).toMatch(/^Invalid characters found/);
});

test("errors keep SQS's code", async () => {
  const { queue, client } = await startedQueue();

  const failure = await failureOf(client.send(send(`${queue.url}/000000000000/nowhere`, "hello")));

  expect(failure).toMatchObject({
    name: "QueueDoesNotExist",
    Code: "AWS.SimpleQueueService.NonExistentQueue",
  });
});

test("actions without an answer work", async () => {
  const { queue, queueUrl, client } = await startedQueue();
  await client.send(send(queueUrl, "hello"));

  await client.send(
    new SetQueueAttributesCommand({ QueueUrl: queueUrl, Attributes: { VisibilityTimeout: "7" } }),
  );
  await client.send(new PurgeQueueCommand({ QueueUrl: queueUrl }));

  expect(await queue.messages(queueUrl)).toEqual([]);
});

test("stop ends a long poll and frees the port", async () => {
  const queue = await startQueue();
  const { queueUrl } = await queue.createQueues({
    name: "payments",
    visibilityTimeoutSeconds: 30,
    maxReceiveCount: 1,
  });
  const poll = failureOf(
    queueClient(queue.url).send(
      new ReceiveMessageCommand({ QueueUrl: queueUrl, WaitTimeSeconds: 20 }),
    ),
  );
  await expect.poll(() => queue.counts()).toEqual({ ReceiveMessage: 1 });

  await queue.stop();
  const next = await startQueue({ port: queue.port });
  await next.stop();

  expect((await poll)["code"]).toBe("ECONNRESET");
});
