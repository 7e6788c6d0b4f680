import { expect, test } from "vitest";

import {
  choice,
  flag,
  helpOf,
  instant,
  integer,
  queueUrl,
  readArguments,
  text,
  texts,
} from "../../cli/terminal/arguments.ts";

const COMMAND = {
  name: "pay",
  usage: "npm run pay -- [options]",
  about: "Pays what is\nowed.\n\n  as it stands,\n  in lines",
  options: {
    to: queueUrl("URL", "where"),
    since: instant("WHEN", "from when"),
    rate: integer("N", "how many per second, at most", [1, 500], 5),
    limit: integer("N", "in all", [0, 9]),
    shape: choice("SHAPE", "the shape", ["round", "flat"], "flat"),
    id: texts("ID", "this one"),
    stack: text("NAME", ""),
    name: text("NAME", "whose", "ada"),
    yes: flag("does not ask"),
  },
  examples: ["npm run pay -- --rate 7"],
};

test("options that are not given have their defaults", () => {
  expect(readArguments(COMMAND, [])).toEqual({
    values: {
      to: undefined,
      since: undefined,
      rate: 5,
      limit: undefined,
      shape: "flat",
      id: [],
      stack: undefined,
      name: "ada",
      yes: false,
    },
    positionals: [],
  });
});

test("options are read as what they are", () => {
  const args = ["--to", "https://sqs/q", "--since", "2026-11-29", "--rate", "500", "--limit=0"];
  const more = ["--shape", "round", "--id", "a", "--id", "b", "--yes"];

  const { values } = readArguments(COMMAND, [...args, ...more]);

  expect(values).toMatchObject({
    to: "https://sqs/q",
    since: 1_795_910_400_000,
    rate: 500,
    limit: 0,
    shape: "round",
    id: ["a", "b"],
    yes: true,
  });
});

test.each([
  [["--rate", "0"], '--rate must be an integer from 1 to 500, not "0".'],
  [["--rate", "501"], '--rate must be an integer from 1 to 500, not "501".'],
  [["--rate", "-1"], '--rate must be an integer from 1 to 500, not "-1".'],
  [["--rate", "1.5"], '--rate must be an integer from 1 to 500, not "1.5".'],
  [["--since", "yesterday"], "--since must be like 90m, 24h, 7d,"],
  [["--shape", "square"], '--shape must be one of round, flat, not "square".'],
  [["--to", "payments-dlq"], "--to must be the URL of a queue."],
  [["--name", ""], "--name is empty: set it first."],
  [["--id", "a", "--id", " "], "--id is empty: set it first."],
  [["--port", "1"], "Unknown option '--port'. See --help."],
  [["--rate"], "Option '--rate <value>' argument missing. See --help."],
  [["now"], '"now" is not an option of pay. See --help.'],
])("%j is wrong usage", (args, sentence) => {
  expect(() => readArguments(COMMAND, args)).toThrow(sentence);
});

test("arguments are taken by a command that names them, and none may be empty", () => {
  const command = { ...COMMAND, positionals: "message id" };

  expect(readArguments(command, ["a", "--", "-b"]).positionals).toEqual(["a", "-b"]);
  expect(() => readArguments(command, ["a", ""])).toThrow("A message id is empty: set it first.");
});

test("the help has every option with its default, and wraps to the terminal", () => {
  const { to, rate, id, stack } = COMMAND.options;
  const command = { ...COMMAND, options: { to, rate, id, stack }, notes: "It\nnever waits." };

  expect(helpOf(command, 40)).toBe(`npm run pay -- [options]

Pays what is owed.

  as it stands,
  in lines

Options
  --to URL  where
  --rate N  how many per second, at most
            (default 5)
  --id ID   this one; may be repeated

It never waits.

Examples
  npm run pay -- --rate 7
`);
});
