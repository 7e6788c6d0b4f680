import { expect, test } from "vitest";

import type { OutcomeEvent } from "../../../lib/outcomes/event.ts";
import { firstFailure, publishChanges } from "../../../lib/outcomes/publish.ts";
import type { RecordChange } from "../../../lib/outcomes/publish.ts";

const SOURCE = "urn:payment-worker:test";
const PAID = { result: "succeeded", paymentIntentId: "pi_1" } as const;
const PENDING = { result: "processing", paymentIntentId: "pi_1" } as const;

const completed = (sequenceNumber: string, messageId: string): RecordChange => ({
  sequenceNumber,
  before: { messageId },
  after: { messageId, outcome: PAID, revision: 1, completedAt: 0 },
});

type Answer = readonly (string | undefined)[] | Error | "no reason";

/** A bus that gives these answers, one per call; every entry succeeds when none is left. */
function bus(...answers: Answer[]) {
  const calls: string[][] = [];
  return {
    calls,
    async publish(events: readonly OutcomeEvent[]) {
      calls.push(events.map(({ id }) => id));
      const answer = answers.shift() ?? events.map(() => undefined);
      if (answer instanceof Error || answer === "no reason") throw answer;
      return [...answer];
    },
  };
}

async function publish(changes: readonly RecordChange[], ...answers: Answer[]) {
  const target = bus(...answers);
  const results = await publishChanges(changes, SOURCE, target, () => 1_000);
  return {
    calls: target.calls,
    decisions: results.map(({ decision }) => decision),
    results,
    checkpoint: firstFailure(results),
  };
}

test("two shards at once keep each id's revisions in order, also beyond one call's ten events", async () => {
  const arrived: string[] = [];
  // The first call of either shard is the last to be answered.
  const release: (() => void)[] = [];
  const slowStart = {
    async publish(events: readonly OutcomeEvent[]) {
      if (release.length < 2) await new Promise<void>((resolve) => void release.push(resolve));
      arrived.push(...events.map(({ id }) => id));
      return events.map(() => undefined);
    },
  };
  const revisions = (messageId: string): RecordChange[] =>
    Array.from({ length: 12 }, (_, index) => ({
      sequenceNumber: `${index + 1}`,
      before: { messageId, outcome: PENDING, revision: index },
      after: { messageId, outcome: PENDING, revision: index + 1 },
    }));
  const shards = [revisions("a"), revisions("b")].map((changes) =>
    publishChanges(changes, SOURCE, slowStart, () => 1_000),
  );
  await expect.poll(() => release.length).toBe(2);
  release[1]?.();
  release[0]?.();
  await Promise.all(shards);

  for (const id of ["a", "b"]) {
    expect(arrived.filter((event) => event.startsWith(id))).toEqual(
      ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"].map((n) => `${id}:${n}`),
    );
  }
});

test("each revision of one outcome is an event of its own", async () => {
  const pending = { messageId: "a", outcome: PENDING, revision: 1 };
  const paid = { messageId: "a", outcome: PAID, revision: 2 };
  const { calls } = await publish([
    { sequenceNumber: "1", before: { messageId: "a" }, after: pending },
    { sequenceNumber: "2", before: pending, after: paid },
  ]);
  expect(calls).toEqual([["a:1", "a:2"]]);
});

const OLD = { messageId: "a", outcome: PAID };
const CLAIMED = { messageId: "a" };

test.each<[string, Partial<RecordChange>]>([
  ["a claim", { after: CLAIMED }],
  ["a release", { before: CLAIMED, after: CLAIMED }],
  ["a deletion", { before: { ...OLD, revision: 1 } }],
  [
    "a change that leaves the revision",
    { before: { ...OLD, revision: 2 }, after: { ...OLD, revision: 2 } },
  ],
  [
    "an attribute added to a record that predates revisions",
    { before: OLD, after: { ...OLD, revision: 1 } },
  ],
])("%s publishes nothing", async (_, change) => {
  const { calls, decisions } = await publish([{ sequenceNumber: "1", ...change }]);
  expect(calls).toEqual([]);
  expect(decisions).toEqual(["unchanged"]);
});

test("entries that the bus rejects fail alone, and the checkpoint is the lowest of them", async () => {
  const changes = ["a", "b", "c", "d"].map((id, i) => completed(`${i + 1}`, id));
  const { decisions, checkpoint, results } = await publish(changes, [
    undefined,
    "ThrottlingException",
    undefined,
    "InternalFailure",
  ]);
  expect(decisions).toEqual(["published", "failed", "published", "failed"]);
  expect(checkpoint).toBe("2");
  expect(results[1]).toEqual({
    sequenceNumber: "2",
    messageId: "b",
    decision: "failed",
    code: "ThrottlingException",
  });
});

test("when the bus does not answer, every event of that call counts as not published", async () => {
  const changes = Array.from({ length: 12 }, (_, index) =>
    completed(`${index + 1}`, `id-${index}`),
  );
  const failure = Object.assign(new Error("no"), { name: "TimeoutError" });
  const { calls, decisions, checkpoint } = await publish(
    changes,
    Array.from({ length: 10 }, () => undefined),
    failure,
  );
  expect(calls.map((call) => call.length)).toEqual([10, 2]);
  expect(decisions.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => "published"));
  expect(decisions.slice(10)).toEqual(["failed", "failed"]);
  expect(checkpoint).toBe("11");
});

test("a bus that fails without an error has failed all the same", async () => {
  const { results } = await publish([completed("1", "a")], "no reason");
  expect(results).toMatchObject([{ decision: "failed", code: "unknown" }]);
});

test("an answer with too few entries leaves the rest unpublished", async () => {
  const { decisions, checkpoint, results } = await publish(
    [completed("1", "a"), completed("2", "b")],
    [undefined],
  );
  expect(decisions).toEqual(["published", "failed"]);
  expect(results[1]).toMatchObject({ code: "NoEntry" });
  expect(checkpoint).toBe("2");
});

test.each<[string, { messageId?: string }, object]>([
  ["a time that is none", { messageId: "b" }, { outcome: PAID, completedAt: Number.NaN }],
  ["no message id", {}, { outcome: PAID }],
  ["no result", { messageId: "b" }, { outcome: {} }],
])("a record with %s fails alone, and the others go out", async (_, known, said) => {
  const poison: RecordChange = { sequenceNumber: "2", after: { ...known, ...said } };
  const { calls, results, checkpoint } = await publish([
    completed("1", "a"),
    poison,
    completed("3", "c"),
  ]);
  expect(calls).toEqual([["a:1", "c:1"]]);
  expect(results[1]).toStrictEqual({
    sequenceNumber: "2",
    ...known,
    decision: "failed",
    code: "MalformedRecord",
  });
  expect(checkpoint).toBe("2");
});
