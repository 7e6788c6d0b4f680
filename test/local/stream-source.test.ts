import { expect, onTestFinished, test } from "vitest";

import type { SourceEvent } from "../../local/event-source/events.ts";
import { startStreamSource } from "../../local/event-source/stream-source.ts";
import type { LambdaFunction } from "../../local/function-host/function.ts";
import { createChangeLog } from "../../local/table/change-log.ts";
import type { Change } from "../../local/table/change-log.ts";

type Answer = (ids: string[]) => string[] | Error;

/** A stream of items with these ids, and a function that answers with the ids that failed. */
function prepare(
  answer: Answer,
  settings: { retryAttempts?: number; filter?: (change: Change) => boolean } = {},
) {
  const { log, record } = createChangeLog(() => 0);
  const invocations: string[][] = [];
  const events: SourceEvent[] = [];
  const idOf = ({ dynamodb }: Change) => dynamodb.Keys["id"]?.S ?? "";
  const lambda: Pick<LambdaFunction, "name" | "invoke"> = {
    name: "publisher",
    async invoke(event) {
      const { Records } = event as { Records: Change[] };
      const ids = Records.map(idOf);
      invocations.push(ids);
      const result = answer(ids);
      if (result instanceof Error) {
        return { ok: false, requestId: "r", reason: "error", errorType: "Error", errorMessage: "" };
      }
      const numberOf = (id: string) =>
        Records.find((change) => idOf(change) === id)?.dynamodb.SequenceNumber ?? id;
      const batchItemFailures = result.map((id) => ({ itemIdentifier: numberOf(id) }));
      return { ok: true, requestId: "r", payload: JSON.stringify({ batchItemFailures }) };
    },
  };
  const write = (...ids: string[]) => {
    for (const id of ids) {
      record({ keys: { id: { S: id } }, before: undefined, after: { id: { S: id } } });
    }
  };
  const start = () => {
    const source = startStreamSource(
      log,
      {
        batchSize: 4,
        retryAttempts: settings.retryAttempts ?? 3,
        retryPauseMs: 0,
        ...(settings.filter && { filter: settings.filter }),
      },
      lambda as LambdaFunction,
      (event) => events.push(event),
    );
    onTestFinished(() => source.stop());
    return source;
  };
  return { write, start, invocations, events };
}

test("records come in order, in batches, from the oldest that is kept", async () => {
  const { write, start, invocations } = prepare(() => []);
  write("a", "b", "c", "d", "e");
  const source = start();
  await source.idle();
  write("f");
  await source.idle();
  expect(invocations).toEqual([["a", "b", "c", "d"], ["e"], ["f"]]);
});

test("after a partial failure it goes on at the lowest one", async () => {
  let failures = ["c", "b"];
  const { write, start, invocations } = prepare(() => failures.splice(0));
  write("a", "b", "c", "d");
  await start().idle();
  expect(invocations).toEqual([
    ["a", "b", "c", "d"],
    ["b", "c", "d"],
  ]);
});

test("a batch that fails as a whole is split, and only the poison is given up", async () => {
  const { write, start, invocations, events } = prepare((ids) =>
    ids.includes("b") ? new Error("poison") : [],
  );
  write("a", "b", "c", "d", "e");
  await start().idle();
  expect(invocations).toEqual([
    ["a", "b", "c", "d"],
    ["a", "b"],
    ["a"],
    ["b"],
    ["b"],
    ["b"],
    ["b"], // three more tries, and no fourth
    ["c", "d"],
    ["e"],
  ]);
  expect(events.filter(({ type }) => type === "given up")).toEqual([
    { type: "given up", function: "publisher", count: 1 },
  ]);
});

test("records that the filter passes over never reach the function", async () => {
  const { write, start, invocations } = prepare(() => [], {
    filter: ({ dynamodb }) => dynamodb.Keys["id"]?.S !== "b",
  });
  write("a", "b", "c");
  await start().idle();
  expect(invocations).toEqual([["a", "c"]]);
});

test.each([[""], ["unknown"]])(
  "an answer with the sequence number %j fails the batch",
  async (id) => {
    const answers = [[id]];
    const { write, start, invocations } = prepare(() => answers.shift() ?? []);
    write("a", "b");
    await start().idle();
    expect(invocations).toEqual([["a", "b"], ["a"], ["b"]]);
  },
);
