import { expect, test } from "vitest";

import { createFeed } from "../../local/feed.ts";

function follow(kept?: number) {
  const feed = createFeed<{ type: string }>(() => 1_000, kept);
  const seen: string[] = [];
  const listen = (after?: number) =>
    feed.subscribe(({ sequence, type }) => seen.push(`${sequence} ${type}`), after);
  return { feed, seen, listen };
}

test("each subscriber gets what came before it and what comes after, once and in order", () => {
  const { feed, seen, listen } = follow();
  const other: object[] = [];

  feed.publish({ type: "a" });
  listen();
  feed.subscribe((entry) => other.push(entry));
  feed.publish({ type: "b" });

  expect(seen).toEqual(["1 a", "2 b"]);
  expect(other).toEqual([
    { type: "a", sequence: 1, atMs: 1_000 },
    { type: "b", sequence: 2, atMs: 1_000 },
  ]);
});

test("a subscriber that comes back with its last number misses and repeats nothing", () => {
  const { feed, seen, listen } = follow();
  const leave = listen();
  feed.publish({ type: "a" });
  leave();
  feed.publish({ type: "b" });

  listen(1);
  feed.publish({ type: "c" });

  expect(seen).toEqual(["1 a", "2 b", "3 c"]);
});

test("only the newest entries are kept for a late subscriber", () => {
  const { feed, seen, listen } = follow(2);
  for (const type of ["a", "b", "c"]) feed.publish({ type });

  listen();

  expect(seen).toEqual(["2 b", "3 c"]);
});
