// An EventBridge bus in memory. PutEvents answers 200 although entries failed.
// https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html

import type { PutEventsRequestEntry } from "@aws-sdk/client-eventbridge";

export type Bus = ReturnType<typeof createBus>;

export type PublishedEvent = {
  specversion: string;
  id: string;
  source: string;
  type: string;
  subject: string;
  time: string;
  revision: number;
  data: Record<string, unknown>;
};

export function createBus(onEvent: (event: PublishedEvent) => void) {
  /** What was published, by source and id: each content once. */
  const published = new Map<string, Set<string>>();
  let accepted = 0;
  return {
    published,
    /** `failing` is the index of an entry that fails alone. */
    put(entries: readonly PutEventsRequestEntry[], failing?: number): object {
      const Entries = entries.map(({ Detail = "" }, index) => {
        if (index === failing) return { ErrorCode: "ThrottlingException" };
        const event = JSON.parse(Detail) as PublishedEvent;
        const contents = published.get(event.id) ?? new Set();
        published.set(event.id, contents.add(Detail));
        onEvent(event);
        return { EventId: `bus-${++accepted}` };
      });
      return { FailedEntryCount: failing === undefined ? 0 : 1, Entries };
    },
  };
}
