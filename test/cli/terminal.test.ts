// What a person sees and answers.
import { PassThrough } from "node:stream";
import { stripVTControlCharacters } from "node:util";

import { expect, test } from "vitest";

import { confirm } from "../../cli/terminal/confirm.ts";
import { readInstant } from "../../cli/terminal/instant.ts";
import { labeled } from "../../cli/terminal/print.ts";
import { duration, progressLine, startProgress } from "../../cli/terminal/progress.ts";
import { table } from "../../cli/terminal/table.ts";

function terminal(answer?: string) {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const output = new PassThrough();
  if (answer !== undefined) input.end(answer);
  return { input, output };
}

const ask = (yes: boolean, streams: Parameters<typeof confirm>[2], signal: AbortSignal) =>
  confirm("Move it?", { yes, signal, otherwise: "Nothing was moved." }, streams);
const never = new AbortController().signal;

test.each<[string, boolean]>([
  ["y\n", true],
  ["Yes\n", true],
  ["n\n", false],
  ["\n", false],
  ["yesterday\n", false],
  ["", false], // Ctrl-D
])("the answer %j is %j", async (answer, expected) => {
  const streams = terminal(answer);

  expect(await ask(false, streams, never)).toBe(expected);
  expect(String(streams.output.read())).toBe(
    `Move it? [y/N] ${expected ? "" : "Nothing was moved.\n"}`,
  );
});

test("Ctrl-C at the question is a no, with its exit status", async () => {
  const interrupted = new AbortController();
  const asked = ask(false, terminal(), interrupted.signal);

  interrupted.abort();

  expect(await asked).toBe(false);
  expect(process.exitCode).toBe(130);
  process.exitCode = undefined;
});

test("without a terminal the question is an error, and --yes needs none", async () => {
  const streams = { input: new PassThrough(), output: new PassThrough() };

  await expect(ask(false, streams, never)).rejects.toThrow(
    "Move it? There is no terminal to ask at",
  );
  expect(await ask(true, streams, never)).toBe(true);
});

test.each<[number, number, number | undefined, string]>([
  [0, 100, 5_000, "records  [                        ]  0 of 100"],
  [1_200, 4_800, 5_000, "records  [======                  ]  1,200 of 4,800, about 15 s left"],
  [5_000, 4_800, 5_000, "records  [========================]  5,000 of 4,800, about 0 s left"],
  [0, 0, 5_000, "records  0 so far, 5 s"],
])("progress at %i of %i", (count, total, elapsedMs, line) => {
  expect(progressLine("records", count, total, elapsedMs ?? 0)).toBe(line);
});

test("progress without a known end counts, and says how long it has been", () => {
  expect(progressLine("records", 1_200, undefined, 61_000)).toBe("records  1,200 so far, 61 s");
});

test("what is done at once draws no bar; what is not is wiped away at its end", () => {
  let now = 0;
  const written: string[] = [];
  const out = { isTTY: true, columns: 80, write: (text: string) => written.push(text) };
  const progress = startProgress("records", 10, out, () => now);

  progress.advance(1);
  const atOnce = [...written];
  now = 5_000;
  progress.advance(4);
  progress.done();

  expect(atOnce).toEqual([]);
  expect(written).toEqual([
    "\r\u001B[Krecords  [============            ]  5 of 10, about 5 s left",
    "\r\u001B[K",
  ]);
});

test.each([
  [0, "0 s"],
  [119_000, "119 s"],
  [120_000, "2 min"],
  [7_199_000, "2 h"],
  [19_200_000, "5 h 20 min"],
  [172_800_000, "2 d"],
  [1_137_600_000, "13 d 4 h"],
])("%i ms is %s", (ms, text) => {
  expect(duration(ms)).toBe(text);
});

test.each([
  ["90m", "2026-11-29T10:30:00.000Z"],
  ["0s", "2026-11-29T12:00:00.000Z"],
  ["7d", "2026-11-22T12:00:00.000Z"],
  ["2026-11-01", "2026-11-01T00:00:00.000Z"],
  ["2026-11-01T06:00:00+02:00", "2026-11-01T04:00:00.000Z"],
])("--since %s is %s", (text, expected) => {
  const now = Date.parse("2026-11-29T12:00:00Z");

  expect(new Date(readInstant("--since", text, now)).toISOString()).toBe(expected);
});

test.each(["yesterday", "7", "2026-13-01", "2026-11-01T06:00:00"])(
  "--since %s is not accepted",
  (text) => {
    expect(() => readInstant("--since", text, 0)).toThrow("--since must be like 90m, 24h, 7d,");
  },
);

test("a table's numbers stand on the right, and its last column runs on", () => {
  expect(
    table(
      ["count", "reason"],
      [
        ["7", "a"],
        ["1,200", "longer than its head"],
      ],
    ),
  ).toContain("\n    7   a\n1,200   longer than its head");
});

const HEAD = ["message", "reason", ""];
const ROW = ["order-1", "conflict", "another payment has this id"];

test.each<[string, number, string]>([
  ["fits is left alone", 48, "message   reason\norder-1   conflict   another payment has this id"],
  [
    "is too wide wraps between words",
    38,
    "message   reason\norder-1   conflict   another payment\n                     has this id",
  ],
  [
    "has little room has its columns closer together",
    27,
    "message  reason\norder-1  conflict  another\n                   payment\n                   has this\n                   id",
  ],
  [
    "has no room for its words becomes a block for each row",
    24,
    "message  order-1\nreason   conflict\n         another payment\n         has this id",
  ],
])("a table that %s", (_, width, drawn) => {
  expect(stripVTControlCharacters(table(HEAD, [ROW], { width }))).toBe(drawn);
});

test("labels and texts wrap to the terminal, and stay in their columns", () => {
  const lines: [string, string][] = [
    ["next", "the attempt completes it, or its lease expires"],
    ["", "see pi_1"],
  ];

  expect(labeled(lines, 30)).toBe(
    "  next  the attempt completes\n        it, or its lease\n        expires\n        see pi_1",
  );
  expect(labeled(lines, Infinity)).toBe(
    "  next  the attempt completes it, or its lease expires\n        see pi_1",
  );
});

test("a long word of the last column is cut where there is no room, and no id before it is", () => {
  const row = ["a-message-id-to-copy", "declined (insufficient_funds)"];

  const drawn = table(["message", "ended"], [row], { width: 36 });

  expect(stripVTControlCharacters(drawn).split("\n")).toEqual([
    "message                ended",
    "a-message-id-to-copy   declined",
    "                       (insufficien…",
  ]);
});
