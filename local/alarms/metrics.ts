// The metrics that AWS would have of a stack: its functions' own, from their log lines, and those of
// Lambda, SQS, DynamoDB and API Gateway, from the feed and the queues.
import { handle } from "../feed.ts";
import type { StackEvent } from "../stack-event.ts";
import type { Stack } from "../stack.ts";
import type { Stat } from "./definition.ts";

export type Metrics = {
  /** The statistic of a period, from after `from` to `to`, epoch ms; undefined without data. */
  read: (stat: Stat, from: number, to: number) => number | undefined;
  /** Looks at the queues, whose depth and age no event tells. */
  sample: () => Promise<void>;
  stop: () => void;
};

type Point = readonly [atMs: number, value: number];

/**
 * SQS leaves a message out of the age that was received so often from that queue. In a dead-letter queue
 * it counts from when the message came there, which locally is soon after it was sent.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/setting-up-dead-letter-queue-retention.html
 */
const RECEIVED_OFTEN = 3;
const KEPT_MS = 60 * 60 * 1_000;

export function collectMetrics(stack: Stack): Metrics {
  const points = new Map<string, Point[]>();

  // Of the entry that is read now: a feed gives its followers what has happened before them, too.
  let entryAtMs = 0;

  function add(metric: string, of: string, value = 1, atMs = entryAtMs): void {
    const key = `${metric} ${of}`;
    const kept = points.get(key) ?? [];
    if (kept.length > 0 && (kept[0]?.[0] ?? 0) < atMs - 2 * KEPT_MS) {
      kept.splice(
        0,
        kept.findIndex(([at]) => at > atMs - KEPT_MS),
      );
    }
    kept.push([atMs, value]);
    points.set(key, kept);
  }

  const take = handle<StackEvent>({
    log: ({ line }) => addEmbedded(line, add),
    "invocation ended"({ function: name, ms, result }) {
      add("Throttles", name, result === "throttle" ? 1 : 0);
      if (result === "throttle") return;
      add("Errors", name, result === "ok" ? 0 : 1);
      add("Duration", name, ms);
    },
    invoked({ function: name, messages, ageMs }) {
      const queue = stack.functions.find((one) => one.name === name)?.queue;
      if (queue !== undefined) add("NumberOfMessagesReceived", queue, messages.length);
      if (ageMs !== undefined) add("IteratorAge", name, ageMs);
    },
    "given up": ({ function: name, count }) =>
      add("OnFailureDestinationDeliveredEventCount", name, count),
    "message sent": ({ queue }) => add("NumberOfMessagesSent", queue),
    "table request"({ operation, result }) {
      const table = stack.tableName;
      if (result === "ThrottlingException") add("WriteThrottleEvents", table);
      if (result === "InternalServerError") add("SystemErrors", `${operation}/${table}`);
    },
    "http answered": ({ function: name, status }) => add("5xx", name, status >= 500 ? 1 : 0),
  });
  const unsubscribe = stack.feed.subscribe((entry) => {
    entryAtMs = entry.atMs;
    take(entry);
  });

  async function sample(): Promise<void> {
    const now = Date.now();
    for (const [name, url] of stack.queue.urls()) {
      const messages = await stack.queue.messages(url);
      const visible = messages.filter(({ state }) => state === "visible").length;
      const ages = messages
        .filter(({ receiveCount }) => name.endsWith("-dlq") || receiveCount < RECEIVED_OFTEN)
        .map(({ sentAtMs }) => (now - sentAtMs) / 1_000);
      add("ApproximateNumberOfMessagesVisible", name, visible, now);
      add("ApproximateAgeOfOldestMessage", name, Math.max(0, ...ages), now);
    }
  }

  return {
    read({ metric, of, statistic }, from, to) {
      const values = (points.get(`${metric} ${of}`) ?? [])
        .filter(([at]) => at > from && at <= to)
        .map(([, value]) => value);
      if (values.length === 0) return undefined;
      return statistic === "Sum" ? values.reduce((sum, one) => sum + one, 0) : Math.max(...values);
    },
    sample,
    stop: unsubscribe,
  };
}

/** Adds the metrics of a line in CloudWatch's embedded metric format. */
function addEmbedded(line: string, add: (metric: string, of: string, value: number) => void): void {
  if (!line.includes('"CloudWatchMetrics"')) return;
  const { _aws, FunctionName, ...entry } = JSON.parse(line) as {
    _aws: { CloudWatchMetrics: { Metrics: { Name: string }[] }[] };
    FunctionName: string;
  } & Record<string, unknown>;
  for (const { Name } of _aws.CloudWatchMetrics.flatMap(({ Metrics }) => Metrics)) {
    add(Name, FunctionName, Number(entry[Name]));
  }
}
