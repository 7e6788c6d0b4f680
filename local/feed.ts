// One feed of what the servers and the function host of a stack saw, for all who follow it: commands,
// tests, a page.

/** `sequence` counts from 1 without a gap; `atMs` is the machine's clock. */
export type Entry<Event> = Event & { sequence: number; atMs: number };

export type Feed<Event> = {
  /** Listeners are called before it returns. */
  publish: (event: Event) => void;
  /**
   * Calls `listener` with every entry after `after` that is still kept, then with each new one, until
   * the returned function is called. A follower that comes back with the last sequence number it saw
   * misses and repeats nothing; a first number above `after + 1` says that older entries are gone.
   */
  subscribe: (listener: (entry: Entry<Event>) => void, after?: number) => () => void;
};

const KEPT = 10_000;

/** `kept` is how many of the newest entries a late subscriber still gets. */
export function createFeed<Event extends object>(
  now: () => number = Date.now,
  kept = KEPT,
): Feed<Event> {
  const listeners = new Set<(entry: Entry<Event>) => void>();
  // A ring: the entry with sequence number n is at index n modulo `kept`.
  const ring: Entry<Event>[] = [];
  let last = 0;

  return {
    publish(event) {
      last += 1;
      const entry = { ...event, sequence: last, atMs: now() };
      ring[last % kept] = entry;
      for (const listener of listeners) listener(entry);
    },
    subscribe(listener, after = 0) {
      for (let sequence = Math.max(after, last - kept) + 1; sequence <= last; sequence++) {
        const entry = ring[sequence % kept];
        if (entry) listener(entry);
      }
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

type Handlers<Event extends { type: string }> = {
  [Type in Event["type"]]?: (event: Event & { type: Type }) => void;
};

/** A listener that gives each entry to the handler of its type, if there is one. */
export function handle<Event extends { type: string }>(
  handlers: Handlers<Event>,
): (event: Event) => void {
  return (event) => handlers[event.type as Event["type"]]?.(event);
}
