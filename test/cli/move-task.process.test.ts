import {
  ListMessageMoveTasksCommand,
  SQSClient,
  StartMessageMoveTaskCommand,
} from "@aws-sdk/client-sqs";
import { mockClient } from "aws-sdk-client-mock";
import { expect, test } from "vitest";

import { moveAll } from "../../cli/queue/move-task.ts";

const MOVE = { from: "arn:dlq", to: "arn:queue", expected: 9, perSecond: 50 };

const listed = (Status: string, StartedTimestamp: number, moved = 0, FailureReason?: string) => ({
  Results: [{ Status, StartedTimestamp, ApproximateNumberOfMessagesMoved: moved, FailureReason }],
});

function prepare() {
  const sqs = mockClient(SQSClient);
  sqs.on(StartMessageMoveTaskCommand).resolves({ TaskHandle: "handle" });
  return { sqs, tasks: sqs.on(ListMessageMoveTasksCommand), client: new SQSClient({}) };
}

const never = new AbortController().signal;

test("the end of the task before this one is not taken for its end", async () => {
  const { sqs, tasks, client } = prepare();
  tasks
    .resolvesOnce(listed("COMPLETED", 1, 4)) // before it starts
    .resolvesOnce(listed("COMPLETED", 1, 4)) // and not listed yet
    .resolvesOnce(listed("RUNNING", 2, 3))
    .resolves(listed("COMPLETED", 2, 9));

  const moved = await moveAll(client, MOVE, never);

  expect(moved).toEqual({ moved: 9 });
  expect(sqs.commandCalls(StartMessageMoveTaskCommand)[0]?.args[0].input).toEqual({
    SourceArn: "arn:dlq",
    DestinationArn: "arn:queue",
    MaxNumberOfMessagesPerSecond: 50,
  });
});

test("a task that fails says SQS's reason, and how far it came", async () => {
  const { tasks, client } = prepare();
  tasks.resolvesOnce({ Results: [] }).resolves(listed("FAILED", 2, 3, "AccessDenied"));

  const moved = await moveAll(client, MOVE, never);

  expect(moved).toEqual({ moved: 3, problem: "SQS's move task ended as FAILED, AccessDenied" });
});
