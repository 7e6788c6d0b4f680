// What overview and watch show: the queues, the alarms, the redrives and the latest results.
import { readAlarms } from "../clients/alarms.ts";
import type { Alarmed } from "../clients/alarms.ts";
import { sqsFor, timingsFor } from "../clients/clients.ts";
import { readResults } from "../clients/results.ts";
import type { ResultLine } from "../clients/results.ts";
import { need } from "../clients/target.ts";
import type { Target } from "../clients/target.ts";
import { codeOf, nextOf } from "../explain/explain-delivery.ts";
import { deadLetterQueueOf, groupByReason, readDeadLetters } from "../queue/dead-letters.ts";
import type { DeadLetter } from "../queue/dead-letters.ts";
import { runningTask } from "../queue/move-task.ts";
import type { RunningTask } from "../queue/move-task.ts";
import { depthOf } from "../queue/peek.ts";
import { warnings } from "../queue/warnings.ts";

export type Overview = {
  queue: { visible: number; inFlight: number; delayed: number; oldestSeconds: number | undefined };
  deadLetters: { reason: string; messages: number; secondsLeft: number }[];
  /** Undefined when nobody knows. */
  alarms: Alarmed["alarms"] | undefined;
  redrive: RunningTask | undefined;
  /** The messages that have used up most of their receives, the nearest first. */
  near: { messageId: string; receive: number; of: number; code: string; next: string }[];
  deliveries: number;
  results: ReturnType<typeof groupResults>;
  warnings: string[];
};

/** Reads it again and again: the dead-letter queue, which is read by receiving, only when it changes. */
export function createReader(target: Target, signal: AbortSignal) {
  const queueUrl = need(target, "queueUrl");
  const dead = deadLetterQueueOf(target);
  let peeked: Awaited<ReturnType<typeof readDeadLetters>> | undefined;

  return async function read(since: number): Promise<Overview> {
    const now = Date.now();
    const depth = await depthOf(dead.sqs, dead.url);
    if (peeked?.letters.length !== depth.visible + depth.inFlight) {
      peeked = await readDeadLetters(dead, signal);
    }
    const { letters, peek } = peeked;
    const [queue, alarmed, redrive, all] = await Promise.all([
      depthOf(sqsFor(queueUrl), queueUrl),
      readAlarms(target),
      runningTask(dead.sqs, depth.arn),
      readResults(target, since, signal),
    ]);
    const { visible, inFlight, delayed, maxReceiveCount } = queue;
    return {
      queue: { visible, inFlight, delayed, oldestSeconds: alarmed?.oldestSeconds },
      deadLetters: groupByReason(letters).map(({ code, letters, oldest }) => ({
        reason: code,
        messages: letters.length,
        secondsLeft: Math.round((oldest.sentAt + depth.retentionMs - now) / 1_000),
      })),
      alarms: alarmed?.alarms,
      redrive,
      near: nearOnes(all, letters, maxReceiveCount).map((result) => ({
        messageId: result.messageId ?? "",
        receive: result.receiveCount ?? 0,
        of: maxReceiveCount,
        code: codeOf(result),
        next: nextOf(result, timingsFor(target)),
      })),
      deliveries: all.length,
      results: groupResults(all),
      warnings: warnings(peek, depth, letters.length),
    };
  };
}

const SHOWN = 10;

/** Those whose latest delivery was not acknowledged, after more than half of their receives. */
export function nearOnes(
  all: readonly ResultLine[],
  letters: readonly DeadLetter[],
  maxReceiveCount: number,
): ResultLine[] {
  const dead = new Set(letters.map(({ messageId }) => messageId));
  const latest = new Map(all.map((result) => [result.messageId, result]));
  return [...latest.values()]
    .filter(
      (result) =>
        receives(result) > maxReceiveCount / 2 &&
        result.decision !== "completed" &&
        result.decision !== "duplicate" &&
        !dead.has(result.messageId),
    )
    .toSorted((a, b) => receives(b) - receives(a))
    .slice(0, SHOWN);
}

/** By decision, outcome and code, the most frequent first; `all` is in the order of time. */
export function groupResults(all: readonly ResultLine[]) {
  const groups = Map.groupBy(all, (result) =>
    JSON.stringify([result.decision, result.outcome, codeOf(result)]),
  );
  return [...groups.values()]
    .flatMap((group) => {
      const [first, last] = [group[0], group.at(-1)];
      if (!first || !last) return [];
      const { decision, outcome } = first;
      return [
        {
          deliveries: group.length,
          messages: new Set(group.map(({ messageId }) => messageId)).size,
          result: outcome ? `${decision}, ${outcome}` : decision,
          code: codeOf(first),
          first: first.timestamp,
          last: last.timestamp,
        },
      ];
    })
    .toSorted((a, b) => b.deliveries - a.deliveries);
}

const receives = ({ receiveCount = 0 }: ResultLine): number => receiveCount;
