// EventBridge on a laptop: events come in, rules send them on to queues, and what a queue does not
// take goes to the target's dead-letter queue.

import { randomUUID } from "node:crypto";

import { compilePattern } from "./pattern.ts";
import type { Pattern } from "./pattern.ts";

export type PutEntry = {
  Source?: string;
  DetailType?: string;
  Detail?: string;
  EventBusName?: string;
  Time?: number;
};

/** An event as its consumers get it. https://docs.aws.amazon.com/eventbridge/latest/ref/overiew-event-structure.html */
export type BusEvent = {
  version: "0";
  id: string;
  "detail-type": string;
  source: string;
  account: string;
  time: string;
  region: string;
  resources: string[];
  detail: unknown;
};

export type PutResult = { EventId: string } | { ErrorCode: string; ErrorMessage: string };

type Target = { queueUrl: string; deadLetterQueueUrl?: string };
type Rule = { name: string; bus: string; matches: Pattern; target: Target };

export type BusOptions = {
  /** Epoch ms. */
  now: () => number;
  /** Sends a message to a queue; a rejection is a target that does not accept it. */
  send: (queueUrl: string, body: string) => Promise<void>;
  /** Hears of every event that was taken, and of each delivery of it. */
  onEvent?: (event: BusEvent) => void;
};

const MAX_EVENT_BYTES = 1_024 * 1_024;
const ATTEMPTS = 3;

export function createBus({ now, send, onEvent }: BusOptions) {
  const buses = new Set<string>(["default"]);
  const rules: Rule[] = [];
  const published: BusEvent[] = [];
  const deliveries = new Set<Promise<void>>();

  async function deliver({ target }: Rule, event: BusEvent): Promise<void> {
    const body = JSON.stringify(event);
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      try {
        await send(target.queueUrl, body);
        return;
      } catch {
        // EventBridge tries for a day; the tries of a laptop follow one another.
      }
    }
    // Without a dead-letter queue EventBridge drops the event.
    if (target.deadLetterQueueUrl) await send(target.deadLetterQueueUrl, body).catch(() => {});
  }

  function take(entry: PutEntry): PutResult {
    const problem = entryProblem(entry, buses);
    if (problem) return problem;
    const { Source = "", DetailType = "", Detail = "", EventBusName = "default", Time } = entry;
    const event: BusEvent = {
      version: "0",
      id: randomUUID(),
      "detail-type": DetailType,
      source: Source,
      account: "000000000000",
      time: new Date(Time === undefined ? now() : Time * 1_000)
        .toISOString()
        .replace(/\.\d+Z$/, "Z"),
      region: "us-east-1",
      resources: [],
      detail: JSON.parse(Detail) as unknown,
    };
    published.push(event);
    onEvent?.(event);
    for (const rule of rules) {
      if (rule.bus !== EventBusName || !rule.matches(event)) continue;
      const delivery = deliver(rule, event).finally(() => deliveries.delete(delivery));
      deliveries.add(delivery);
    }
    return { EventId: event.id };
  }

  return {
    createBus: (name: string) => void buses.add(name),
    /**
     * A rule with one queue as its target.
     *
     * @throws InvalidPattern
     */
    addQueue(name: string, bus: string, pattern: object, target: Target): void {
      rules.push({ name, bus, matches: compilePattern(JSON.stringify(pattern)), target });
    },
    put: (entries: readonly PutEntry[]): PutResult[] => entries.map(take),
    /** Every event that was taken, oldest first. */
    published: (): readonly BusEvent[] => published,
    /** Resolves when no delivery is in flight. */
    async idle(): Promise<void> {
      while (deliveries.size > 0) await Promise.all(deliveries);
    },
  };
}

export type Bus = ReturnType<typeof createBus>;

/** https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEventsResultEntry.html */
function entryProblem(entry: PutEntry, buses: ReadonlySet<string>): PutResult | undefined {
  const { Source, DetailType, Detail, EventBusName = "default" } = entry;
  if (!Source)
    return failed(
      "InvalidArgument",
      "Parameter Source is not valid. Reason: Source is a required argument.",
    );
  if (!DetailType) {
    return failed(
      "InvalidArgument",
      "Parameter DetailType is not valid. Reason: DetailType is a required argument.",
    );
  }
  if (!Detail)
    return failed(
      "InvalidArgument",
      "Parameter Detail is not valid. Reason: Detail is a required argument.",
    );
  if (!isObject(Detail)) return failed("MalformedDetail", "Detail is malformed.");
  if (Buffer.byteLength(Source + DetailType + Detail) > MAX_EVENT_BYTES) {
    return failed("InvalidArgument", "Total size of the entry exceeds the limit.");
  }
  // EventBridge takes an event for a bus that is not there, and nobody hears of it.
  return buses.has(EventBusName) ? undefined : { EventId: randomUUID() };
}

function failed(ErrorCode: string, ErrorMessage: string): PutResult {
  return { ErrorCode, ErrorMessage };
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
