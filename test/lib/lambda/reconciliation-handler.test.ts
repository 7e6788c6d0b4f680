// The scheduled reconciliation, of books and a bucket in memory: when it runs, what it keeps, what it logs.

import { expect, test } from "vitest";

import type { LogLine } from "../../../lib/lambda/emf.ts";
import { createReconciliation } from "../../../lib/lambda/reconciliation-handler.ts";
import { newRun } from "../../../lib/reconcile/run.ts";
import { booksOf, intent, outcome, record } from "../../support/books.ts";
import type { Held } from "../../support/books.ts";

const NOW = Date.parse("2026-11-29T12:00:00.700Z");
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const WINDOW = {
  since: Date.parse("2026-11-28T10:00:00Z"),
  until: Date.parse("2026-11-29T10:00:00Z"),
};
const recorded = (n: number, at: number, result?: "processing") =>
  record(`order-${n}`, at, outcome(n, result));

function prepare({ kept, sliceMs = 0, ...held }: Held & { kept?: object; sliceMs?: number } = {}) {
  const clock = { now: NOW };
  const lines: LogLine[] = [];
  const stored: unknown[][] = [];
  const { books, asked } = booksOf(held);
  const handle = createReconciliation({
    books: {
      ...books,
      async *records(...args) {
        yield* books.records(...args);
        clock.now += sliceMs; // what a slice takes
      },
    },
    reports: {
      kept: async () => kept,
      keep: async (checkpoint) => void stored.push(["keep", checkpoint]),
      publish: async (name, report) => void stored.push(["publish", name, report]),
    },
    functionName: "reconciliation",
    now: () => clock.now,
    write: (line) => lines.push(line),
  });
  return {
    lines,
    asked,
    stored,
    run: (event: unknown, remaining = 900_000) =>
      handle(event, {
        awsRequestId: "run-1",
        getRemainingTimeInMillis: () => remaining - (clock.now - NOW),
      }),
  };
}

/** What a line makes of metrics: their names, each with what it is split by. */
function metricsOf({ _aws }: LogLine): string[] {
  const { CloudWatchMetrics: all } = _aws as {
    CloudWatchMetrics: { Dimensions: string[][]; Metrics: { Name: string }[] }[];
  };
  return all.flatMap(({ Dimensions, Metrics }) =>
    Metrics.map(({ Name }) => [Name, ...(Dimensions[1]?.slice(1) ?? [])].join(" by ")),
  );
}

test.each<[string, unknown, typeof WINDOW]>([
  ["the schedule", null, WINDOW],
  ["a run by hand", { now: true }, WINDOW],
  [
    "a run by hand that ends a minute ago",
    { now: true, delaySeconds: 60 },
    { since: Date.parse("2026-11-28T11:59:00Z"), until: Date.parse("2026-11-29T11:59:00Z") },
  ],
])("%s has a window of a day, in whole seconds", async (_, event, window) => {
  const { run, asked } = prepare();
  expect(await run(event)).toMatchObject({ done: true });
  expect(asked[0]).toEqual(["intents", window.since, window.until]);
});

test.each<[string, unknown, object, boolean]>([
  ["55 minutes after the last began, yes", {}, { finished: NOW - 55 * MINUTE }, true],
  ["a moment earlier, no", {}, { finished: NOW - 55 * MINUTE + 1 }, false],
  ["by hand, whenever the last was", { now: true }, { finished: NOW }, true],
  [
    "one to go on with, at any time",
    {},
    { finished: NOW, run: newRun(WINDOW, NOW - HOUR, 9) },
    true,
  ],
])("a run is done when it is due: %s", async (_, event, kept, done) => {
  const { run, stored } = prepare({ kept: { version: 1, ...kept } });
  expect(await run(event)).toMatchObject({ done });
  expect(stored).toHaveLength(done ? 2 : 0);
});

test("a run that is done in one slice is published, and only then kept as finished", async () => {
  const { run, stored, lines } = prepare();
  const counts = {
    since: "2026-11-28T10:00:00.000Z",
    until: "2026-11-29T10:00:00.000Z",
    records: 0,
    intents: 0,
    agree: 0,
    advanced: 0,
    unread: 0,
    balanceRead: true,
    findings: 0,
    openTooLong: 0,
  };
  expect(await run({})).toEqual({ done: true, ...counts });
  expect(stored).toEqual([
    ["publish", "2026-11-29T10-00-00Z.json", expect.objectContaining({ records: 0 })],
    ["keep", { version: 1, finished: NOW }],
  ]);
  expect(lines).toEqual([
    {
      timestamp: "2026-11-29T12:00:00.700Z",
      level: "INFO",
      message: "reconciliation done",
      ...counts,
      requestId: "run-1",
      FunctionName: "reconciliation",
      Reconciled: 1,
      _aws: expect.objectContaining({ Timestamp: NOW }) as object,
    },
  ]);
});

const paid = (n: number) => WINDOW.until - n * 1_000;
const SLICED = {
  intents: [1, 2, 3, 4].map((n) => intent(n, paid(n))),
  records: [1, 2, 3, 4].map((n) => recorded(n, paid(n))),
  transactions: [undefined],
};

test.each([
  [55_000, [1, 2], 2],
  [54_999, [1], 1],
])(
  "with %i ms left, slices of ten seconds are begun while one and a half of them fit before the reserve",
  async (remaining, ends, agree) => {
    const { run, stored, lines } = prepare({ ...SLICED, sliceMs: 10_000 });
    const left = `2026-11-28T10:00:00.000Z to 2026-11-29T09:59:5${10 - ends.length}.000Z`;

    expect(await run({ slicePayments: 1 }, remaining)).toEqual({ done: false, left });

    const kept = (n: number) => ({ until: paid(n), slicePayments: 1, startedAt: NOW });
    expect(stored).toMatchObject(
      ends.map((n) => ["keep", { version: 1, finished: 0, run: kept(n) }]),
    );
    expect(lines).toMatchObject([
      { level: "INFO", message: "reconciliation continues", left, agree, requestId: "run-1" },
    ]);
    expect(lines.map(metricsOf)).toEqual([[]]);
  },
);

test("a slice for which the reserve leaves no time is kept in half its size", async () => {
  const { run, stored } = prepare(SLICED);
  expect(await run({ slicePayments: 3_000 }, 30_000)).toMatchObject({ done: false });
  expect(stored).toMatchObject([
    ["keep", { finished: 0, run: { until: WINDOW.until, slicePayments: 1_500 } }],
  ]);
});

const FINDING = "ReconciliationFinding by kind";

test("each finding is a line with its metric, but for one that asks nobody to act", async () => {
  const at = paid(9);
  const { run, lines } = prepare({
    intents: [intent(1, at), intent(2, at), intent("2b", at, "order-2"), intent(3, at)],
    records: [recorded(1, at, "processing"), recorded(2, at)],
  });
  await run({});
  expect(
    lines.map((line) => [line["level"], line["message"], line["messageId"], metricsOf(line)]),
  ).toEqual([
    ["INFO", "reconciliation: advanced", "order-1", []],
    ["ERROR", "reconciliation: charged_twice", "order-2", [FINDING, "DoubleCharge"]],
    ["ERROR", "reconciliation: not_recorded", "order-3", [FINDING]],
    ["ERROR", "reconciliation: sums differ", undefined, [FINDING, "SumsDiffer"]],
    ["INFO", "reconciliation done", undefined, ["Reconciled"]],
  ]);
  expect(lines[4]).toMatchObject({ findings: 3 });
  expect(lines[3]).toMatchObject({
    kind: "sums_differ",
    currency: "eur",
    recorded: 2_400,
    inBalance: 4_800,
    next: expect.stringContaining("ask Stripe's support") as string,
  });
});

test("a checkpoint that is not gone on with is a warning, and a new run begins", async () => {
  const { run, lines } = prepare({ kept: { version: 1, finished: 0, run: {} } });
  expect(await run({})).toMatchObject({ done: true });
  const reason = "The checkpoint is damaged: its run is not whole.";
  expect(lines).toMatchObject([
    { level: "WARN", message: "checkpoint ignored", reason },
    { message: "reconciliation done" },
  ]);
});

test("what is open for too long, and a balance that may not be read, are warnings", async () => {
  const at = NOW - 20 * 24 * HOUR;
  const kept = { version: 1, run: newRun({ since: NOW - 30 * 24 * HOUR, until: NOW }, NOW, 9) };
  const { run, lines } = prepare({
    records: [recorded(1, at, "processing")],
    intents: [{ ...intent(1, at), outcome: outcome(1, "processing") }],
    transactions: [undefined],
    kept,
  });
  await run({});
  expect(lines).toMatchObject([
    { level: "WARN", message: "open too long", messageId: "order-1", OpenTooLong: 1 },
    {
      level: "WARN",
      message: "balance not read",
      next: "Give the Stripe key the permissions that docs/deploy.md names.",
    },
    { level: "INFO", message: "reconciliation done", balanceRead: false, openTooLong: 1 },
  ]);
  expect(lines.map(metricsOf)).toEqual([["OpenTooLong"], [], ["Reconciled"]]);
});
