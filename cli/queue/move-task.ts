// Moves a whole dead-letter queue by SQS's own task, and watches it to its end.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_StartMessageMoveTask.html
import { setTimeout as sleep } from "node:timers/promises";

import {
  CancelMessageMoveTaskCommand,
  ListMessageMoveTasksCommand,
  StartMessageMoveTaskCommand,
} from "@aws-sdk/client-sqs";
import type { ListMessageMoveTasksResultEntry, SQSClient } from "@aws-sdk/client-sqs";

import { startProgress } from "../terminal/progress.ts";

type Moved = {
  /** As SQS counts: approximate. */
  moved: number;
  /** Why not everything moved; absent when all did. */
  problem?: string;
};

const POLL_MS = 500;
const POLLS_UNTIL_LISTED = 120;
const UNLISTED =
  "SQS has started the move task and does not list it: see aws sqs list-message-move-tasks";

/**
 * Moves everything to the destination, at most `perSecond` messages per second (1 to 500; SQS chooses
 * without one). Ctrl-C cancels the task.
 */
export async function moveAll(
  sqs: SQSClient,
  move: { from: string; to: string; expected: number; perSecond: number | undefined },
  signal: AbortSignal,
): Promise<Moved> {
  const { StartedTimestamp: earlier } = await newestTask(sqs, move.from);
  const { TaskHandle } = await sqs.send(
    new StartMessageMoveTaskCommand({
      SourceArn: move.from,
      DestinationArn: move.to,
      ...(move.perSecond !== undefined && { MaxNumberOfMessagesPerSecond: move.perSecond }),
    }),
  );
  const progress = startProgress("moving", move.expected);
  let counted = 0;
  let cancelled = false;
  const pause = () => sleep(POLL_MS, undefined, cancelled ? {} : { signal }).catch(ignoreAbort);
  try {
    for (let polls = 1; ; polls += 1) {
      if (signal.aborted && !cancelled) {
        cancelled = true;
        await sqs.send(new CancelMessageMoveTaskCommand({ TaskHandle })).catch(ignoreEnded);
      }
      const task = await newestTask(sqs, move.from);
      const { Status, StartedTimestamp, ApproximateNumberOfMessagesMoved: moved = 0 } = task;
      if (StartedTimestamp === earlier) {
        // SQS still lists the task before this one.
        if (polls === POLLS_UNTIL_LISTED) return { moved: 0, problem: UNLISTED };
        await pause();
        continue;
      }
      progress.advance(moved - counted);
      counted = moved;
      switch (Status) {
        case "RUNNING":
        case "CANCELLING":
          await pause();
          break;
        case "COMPLETED":
          return { moved };
        case undefined:
        default:
          return { moved, problem: `SQS's move task ended as ${Status}, ${reason(task)}` };
      }
    }
  } finally {
    progress.done();
  }
}

export type RunningTask = { moved: number; remaining: number };

/** The move task that empties a queue now. */
export async function runningTask(sqs: SQSClient, from: string): Promise<RunningTask | undefined> {
  const task = await newestTask(sqs, from);
  if (task.Status !== "RUNNING" && task.Status !== "CANCELLING") return undefined;
  const moved = task.ApproximateNumberOfMessagesMoved ?? 0;
  return { moved, remaining: Math.max(0, (task.ApproximateNumberOfMessagesToMove ?? 0) - moved) };
}

async function newestTask(sqs: SQSClient, from: string): Promise<ListMessageMoveTasksResultEntry> {
  const { Results = [] } = await sqs.send(
    new ListMessageMoveTasksCommand({ SourceArn: from, MaxResults: 1 }),
  );
  return Results[0] ?? {};
}

function reason({ Status, FailureReason }: ListMessageMoveTasksResultEntry): string {
  return FailureReason ?? (Status === "CANCELLED" ? "it was interrupted" : "SQS gives no reason");
}

/** A task that has just ended cannot be cancelled any more. */
function ignoreEnded(error: unknown): void {
  if ((error as Error).name !== "UnsupportedOperation") throw error;
}

function ignoreAbort(error: unknown): void {
  if ((error as Error).name !== "AbortError") throw error;
}
