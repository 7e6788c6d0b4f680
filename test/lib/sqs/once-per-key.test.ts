import { expect, test } from "vitest";

import { createOncePerKey } from "../../../lib/sqs/once-per-key.ts";

test("the same key with the same content runs once, and every copy gets the result", async () => {
  const once = createOncePerKey<string>();
  let runs = 0;
  const run = async () => `run ${(runs += 1)}`;

  const all = await Promise.all([once("a", "x", run), once("a", "x", run), once("b", "x", run)]);

  expect(all).toEqual([
    { result: "run 1", copy: false },
    { result: "run 1", copy: true },
    { result: "run 2", copy: false },
  ]);
});

test("other content under the same key runs after the one before, however that ended", async () => {
  const once = createOncePerKey<string>();
  const started: string[] = [];
  const gates = ["1", "2", "3"].map((name) => ({ name, ...Promise.withResolvers<string>() }));
  const all = gates.map(({ name, promise }) =>
    once("a", name, () => {
      started.push(name);
      return promise;
    }).catch((error: Error) => error.message),
  );
  // All that can run without the first has run by the next turn of the loop.
  const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

  await nextTurn();
  expect(started).toEqual(["1"]);
  gates[0]?.reject(new Error("first failed"));
  await nextTurn();
  expect(started).toEqual(["1", "2"]);
  gates[1]?.resolve("second");
  gates[2]?.resolve("third");

  expect(await Promise.all(all)).toEqual([
    "first failed",
    { result: "second", copy: false },
    { result: "third", copy: false },
  ]);
});
