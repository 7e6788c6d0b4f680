import { expect, test } from "vitest";

import { createFeed } from "../../local/feed.ts";

function follow(kept?: number) {
  const feed = createFeed<{ type: string }>(() => 1_000, kept);
  const seen: string[] = [];
  const listen = (after?: number) =>
    feed.subscribe(({ sequence, type }) => seen.push(`${sequence} ${type}`), after);
  return { feed, seen, listen };
}

test("a subscriber gets what came before it and what comes after, once and in order", () => {
  const { feed, seen, listen } = follow();

  feed.publish({ type: "a" });
  listen();
  feed.publish({ type: "b" });

  expect(seen).toEqual(["1 a", "2 b"]);
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

test("every subscriber gets each entry before publish returns, with the time", () => {
  const { feed } = follow();
  const first: object[] = [];
  const second: object[] = [];
  feed.subscribe((entry) => first.push(entry));
  feed.subscribe((entry) => second.push(entry));

  feed.publish({ type: "a" });

  expect(first).toEqual([{ type: "a", sequence: 1, atMs: 1_000 }]);
  expect(second).toEqual(first);
});
