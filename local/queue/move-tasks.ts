/**
 * StartMessageMoveTask, ListMessageMoveTasks and CancelMessageMoveTask, which fauxqs lacks.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_StartMessageMoveTask.html
 */
import { randomUUID } from "node:crypto";

import { okReply } from "../aws-json.ts";
import type { Reply } from "../http-exchange.ts";
import type { Fauxqs, StoredQueue } from "./fauxqs.ts";
import { moveMessages } from "./move-messages.ts";
import type { Move } from "./move-messages.ts";
import { refusal } from "./refusal.ts";

type Task = Move & { handle: string; startedMs: number };

type Input = Record<string, unknown>;

export type MoveTasks = {
  start: (input: Input) => Promise<Reply>;
  list: (input: Input) => Promise<Reply>;
  cancel: (input: Input) => Promise<Reply>;
  /** Ends every task where it is. */
  stop: () => Promise<void>;
};

/** @param origins the name of the queue that each message was sent to, by SQS's MessageId */
export function createMoveTasks(fauxqs: Fauxqs, origins: Map<string, string>): MoveTasks {
  const tasks: Task[] = [];
  const running = new Set<Promise<void>>();

  async function start(input: Input): Promise<Reply> {
    const { SourceArn, DestinationArn, MaxNumberOfMessagesPerSecond: perSecond } = input;
    const queues = await fauxqs.queues();
    const source = queues.find(({ arn }) => arn === SourceArn);
    if (!source) return notFound("SourceArn");
    if (!queues.some((queue) => deadLetterArn(queue) === SourceArn)) {
      return invalid("Source queue must be configured as a Dead Letter Queue.");
    }
    if (DestinationArn !== undefined && !queues.some(({ arn }) => arn === DestinationArn)) {
      return notFound("DestinationArn");
    }
    if (perSecond !== undefined && !(Number(perSecond) >= 1 && Number(perSecond) <= 500)) {
      return invalid("MaxNumberOfMessagesPerSecond must be between 1 and 500.");
    }
    if (tasks.some((task) => task.source.arn === SourceArn && isActive(task))) {
      return invalid(
        "There is already a task running. Only one active task is allowed for a source queue arn at a given time.",
      );
    }

    const task: Task = {
      handle: randomUUID(),
      status: "RUNNING",
      source,
      destinationArn: DestinationArn as string | undefined,
      perSecond: perSecond as number | undefined,
      moved: 0,
      // Taken once: a message that comes back to the dead-letter queue meanwhile is not moved again.
      toMove: source.messages.ready.length,
      startedMs: Date.now(),
      failure: undefined,
      cancelling: new AbortController(),
    };
    tasks.unshift(task);
    const done = moveMessages(fauxqs, origins, task);
    running.add(done);
    void done.finally(() => running.delete(done));
    return okReply({ TaskHandle: task.handle });
  }

  async function list(input: Input): Promise<Reply> {
    const { SourceArn, MaxResults = 1 } = input;
    if (!(await fauxqs.queues()).some(({ arn }) => arn === SourceArn)) return notFound("SourceArn");
    const found = tasks.filter((task) => task.source.arn === SourceArn);
    return okReply({ Results: found.slice(0, Number(MaxResults)).map(resultOf) });
  }

  async function cancel(input: Input): Promise<Reply> {
    const task = tasks.find(({ handle }) => handle === input["TaskHandle"]);
    if (!task) return refusal("ResourceNotFoundException", "Task does not exist.", 404);
    if (task.status !== "RUNNING") {
      return refusal("UnsupportedOperation", "Only a task that is RUNNING can be cancelled.");
    }
    task.status = "CANCELLING";
    task.cancelling.abort();
    return okReply({ ApproximateNumberOfMessagesMoved: task.moved });
  }

  return {
    start,
    list,
    cancel,
    async stop() {
      for (const task of tasks) task.cancelling.abort();
      await Promise.all(running);
    },
  };
}

function isActive({ status }: Task): boolean {
  return status === "RUNNING" || status === "CANCELLING";
}

function deadLetterArn({ attributes }: StoredQueue): string | undefined {
  if (!attributes.RedrivePolicy) return undefined;
  return (JSON.parse(attributes.RedrivePolicy) as { deadLetterTargetArn?: string })
    .deadLetterTargetArn;
}

/** As AWS: the handle only while the task runs, and a destination only when one was asked for. */
function resultOf(task: Task): object {
  return {
    ...(task.status === "RUNNING" && { TaskHandle: task.handle }),
    Status: task.status,
    SourceArn: task.source.arn,
    DestinationArn: task.destinationArn,
    MaxNumberOfMessagesPerSecond: task.perSecond,
    ApproximateNumberOfMessagesMoved: task.moved,
    ApproximateNumberOfMessagesToMove: task.toMove,
    FailureReason: task.failure,
    StartedTimestamp: task.startedMs,
  };
}

function notFound(parameter: string): Reply {
  const message = `The resource that you specified for the ${parameter} parameter doesn't exist.`;
  return refusal("ResourceNotFoundException", message, 404);
}

function invalid(message: string): Reply {
  return refusal("InvalidParameterValue", message);
}
