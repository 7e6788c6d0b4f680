// How each command reports wrong usage, before it does anything.
import { readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

import { expect, test } from "vitest";

import { helpOf } from "../../cli/terminal/arguments.ts";
import { newFolder } from "../support/command.ts";

const RECORDS = ["--table", "records"];

test.each([
  ["redrive", [], "Name the messages to move: --id, --reason or --all."],
  ["redrive", ["--all", "--id", "a"], "Name the messages to move: --id, --reason or --all."],
  ["redrive", ["--all", "--limit", "0"], '--limit must be an integer from 1 to 999999, not "0".'],
  ["redrive", ["--all", "--rate", "501"], '--rate must be an integer from 1 to 500, not "501".'],
  [
    "redrive",
    ["--reason", "nonsense"],
    '--reason "nonsense" is not a reason of a dead letter: invalid, conflict, stripe_unavailable, stripe_rate_limited, stripe_key_in_use, stripe_configuration, stripe_rejected, stripe_lookup, table_unavailable, record_damaged, deadline, unexpected, died, unclaimed, completed, in_progress, and',
  ],
  ["redrive", ["order-1"], '"order-1" is not an option of redrive.'],
  ["reconcile", ["--rate", "0"], "--rate must be an integer from 1 to 100"],
  [
    "reconcile",
    [...RECORDS, "--since", "2026-11-02", "--until", "2026-11-01"],
    "--since must be before --until.",
  ],
  [
    "reconcile",
    [...RECORDS, "--since", "36d"],
    "--since must be within 35 d: older payments have no record any more.",
  ],
  [
    "reconcile",
    [...RECORDS, "--resume", "nowhere"],
    "There is no reconciliation to resume in nowhere",
  ],
  [
    "reconcile",
    [...RECORDS, "--resume", "nowhere", "--since", "1h"],
    "--resume keeps the period that it began with",
  ],
  ["republish", [], "Say which outcomes: --since or --id."],
  [
    "republish",
    ["--since", "1h", ...RECORDS],
    "This needs --event-source: the other flags do not say.",
  ],
  ["status", [], "Name at least one message id."],
  ["history", [], "Name at least one message id."],
  ["status", [" "], "A message id is empty: set it first."],
  ["send", ["--id", "a", "--count", "2"], "--id with --count would give several messages one id"],
  ["send", ["--file", "nowhere.json"], "--file nowhere.json cannot be read: ENOENT"],
  ["send", ["--amount", "12.50"], "--amount must be an integer from 1 to 999999999999"],
  ["redrive", ["--all", "--to", "notaqueue"], "--to must be the URL of a queue."],
  ["dlq", ["--dlq-url", "payments-dlq"], "--dlq-url must be the URL of a queue."],
  ["dlq", ["--dlq-url", "https://sqs/q"], "This needs --table: the other flags do not say."],
  ["dlq", ["--outputs", "nowhere.json"], "--outputs nowhere.json cannot be read"],
])("%s %j is wrong usage", async (command, args, sentence) => {
  await expect(run(command, args)).rejects.toThrow(sentence);
});

test.each([
  ["empty.json", "", "is empty: SQS takes no empty body."],
  ["event.json", '{"Records": []}', "is an SQS event: use npm run invoke -- "],
])("send --file %s is wrong usage", async (name, body, sentence) => {
  const folder = newFolder();
  writeFileSync(join(folder, name), body);

  await expect(run("send", ["--file", join(folder, name)])).rejects.toThrow(sentence);
});

const COMMANDS = readdirSync(join(import.meta.dirname, "../../cli/commands"));

test.each(COMMANDS.map((file) => basename(file, ".ts")))(
  "the help of %s has examples that run as printed, within 100 columns",
  async (name) => {
    const { COMMAND } = await load(name);
    const lines = helpOf(COMMAND).split("\n");

    const examples = lines.filter((line) => line.startsWith("  npm run"));
    expect(COMMAND.name).toBe(name);
    expect(examples.length).toBeGreaterThan(1);
    for (const example of examples) {
      // npm's own lines are no JSON.
      const silent = example.includes("--json") ? "--silent " : "";
      expect(example.startsWith(`  npm run ${silent}payments -- ${name}`)).toBe(true);
    }
    for (const line of lines.filter((line) => !examples.includes(line))) {
      expect(line.length).toBeLessThanOrEqual(100);
    }
  },
);

type CommandModule = {
  COMMAND: Parameters<typeof helpOf>[0];
  run: (args: string[]) => Promise<void>;
};

async function load(name: string): Promise<CommandModule> {
  return (await import(`../../cli/commands/${name}.ts`)) as CommandModule;
}

async function run(command: string, args: string[]): Promise<void> {
  const { run } = await load(command);
  await run(args);
}
