// payments redrive: moves messages from the dead-letter queue to a queue that works on them.
import { styleText } from "node:util";

import { sqsFor } from "../clients/clients.ts";
import { findTarget, need, TARGET_OPTIONS } from "../clients/target.ts";
import {
  deadLetterQueueOf,
  groupByReason,
  nameOf,
  readDeadLetters,
} from "../queue/dead-letters.ts";
import type { DeadLetter, DeadLetterQueue } from "../queue/dead-letters.ts";
import { followUp } from "../queue/follow-up.ts";
import type { FollowedUp } from "../queue/follow-up.ts";
import { moveSelected } from "../queue/move-selected.ts";
import { moveAll } from "../queue/move-task.ts";
import { depthOf } from "../queue/peek.ts";
import { isKnownReason, isReason, REASON_KINDS } from "../queue/reason.ts";
import { warnings } from "../queue/warnings.ts";
import { flag, integer, queueUrl, readArguments, texts } from "../terminal/arguments.ts";
import type { ValuesOf } from "../terminal/arguments.ts";
import { interruptSignal, UsageError } from "../terminal/command.ts";
import { confirm } from "../terminal/confirm.ts";
import { plural, printJson, say } from "../terminal/print.ts";
import { table } from "../terminal/table.ts";

export const COMMAND = {
  name: "redrive",
  usage: "npm run payments -- redrive (--id ID… | --reason REASON… | --all) [options]",
  about: `
Moves messages from the dead-letter queue back to the queue: shows them, asks, moves them, and
reports what became of each.`,
  options: {
    ...TARGET_OPTIONS,
    id: texts("ID", "this message: its message id, or SQS's own"),
    reason: texts(
      "REASON",
      "those with this reason, as payments dlq shows it: stripe_unavailable, or stripe_unavailable/http_503",
    ),
    all: flag("all of them"),
    limit: integer("N", "of these, no more than N", [1, 999_999]),
    rate: integer("N", "no more than N per second", [1, 500]),
    to: queueUrl("URL", "to this queue instead of the one that they came from: to set them aside"),
    wait: integer("SECONDS", "how long to wait for outcomes", [0, 999_999], 60),
    yes: flag("does not ask"),
    json: flag("for scripts"),
  },
  notes: `
A redrive is always safe. The message id is the sender's and stays the same, whatever SQS calls the
message: what has an outcome is acknowledged without a call to Stripe; what was charged without a
record is found by the same idempotency key, and after the key window by a lookup before any charge;
an invalid message or a conflict is never charged, and comes back here. So redriving twice, or too
much, charges no customer twice.

--all is SQS's own move task, which Ctrl-C cancels. Anything less is received, sent and then deleted
one by one: if it is interrupted in between, a message may be in both queues, but never in neither.

Needs the queue, the dead-letter queue and the table. Other targets: payments --help.

Exit status 3 when a message has no outcome at the end, was not moved, or is not there.`,
  examples: [
    "npm run payments -- redrive --id order-1",
    "npm run payments -- redrive --reason stripe_unavailable --rate 5",
    "npm run payments -- redrive --all --yes --stack PaymentWorker-prod",
    `npm run payments -- redrive --reason invalid --to "$ANSWERED_QUEUE_URL"`,
  ],
};

type Choice = {
  wanted: (letter: DeadLetter) => boolean;
  limit: number;
  perSecond: number | undefined;
  /** Whether SQS's move task can do it. */
  everything: boolean;
};

export async function run(args: string[]): Promise<void> {
  const { values } = readArguments(COMMAND, args);
  const choice = readChoice(values);
  const target = await findTarget(values);
  const queue = deadLetterQueueOf(target);
  const to = values.to ?? need(target, "queueUrl");
  const signal = interruptSignal();

  const { letters, peek, depth } = await readDeadLetters(queue, signal);
  const chosen = letters.filter(choice.wanted).slice(0, choice.limit);
  for (const warning of warnings(peek, depth, letters.length)) say(warning);
  if (signal.aborted) {
    say("Nothing was moved.");
    process.exitCode = 130;
    return;
  }
  const missing = values.id.filter(
    (id) => !letters.some((letter) => letter.messageId === id || letter.sqsMessageId === id),
  );
  if (missing.length > 0) {
    say(`Not in the dead-letter queue: ${missing.join(", ")}. payments status says where it is.`);
    process.exitCode = 3;
  }
  if (chosen.length === 0) {
    if (values.json) printJson({ moved: 0, problems: [], messages: [] });
    say(nothingChosen(letters));
    return;
  }
  say(proposal(chosen, queue.url, to));
  const question = `Move ${plural(chosen.length, "message")}?`;
  const asking = { yes: values.yes, signal, otherwise: "Nothing was moved." };
  if (!(await confirm(question, asking))) return;

  const { count, moved, problems } = await move(queue, to, chosen, choice, signal);
  for (const problem of problems) say(styleText("red", problem));
  const results =
    values.to === undefined ? await followUp(queue, moved, 1_000 * values.wait, signal) : [];
  if (values.json) printJson({ moved: count, problems, messages: results.map(forScripts) });
  else console.log(report(count, results, to));
  if (problems.length > 0 || results.some(({ kind }) => kind !== "outcome")) process.exitCode = 3;
  if (signal.aborted) process.exitCode = 130;
}

function readChoice({ id, reason, all, limit, rate }: ValuesOf<typeof COMMAND>): Choice {
  if (Number(id.length > 0) + Number(reason.length > 0) + Number(all) !== 1) {
    throw new UsageError("Name the messages to move: --id, --reason or --all. See --help.");
  }
  for (const wanted of reason) {
    if (isKnownReason(wanted)) continue;
    throw new UsageError(
      `--reason "${wanted}" is not a reason of a dead letter: ${REASON_KINDS.join(", ")}, and what dlq --summary shows after the slash.`,
    );
  }
  const ids = new Set(id);
  return {
    wanted: ({ messageId = "", sqsMessageId, code }) =>
      all ||
      ids.has(messageId) ||
      ids.has(sqsMessageId) ||
      reason.some((wanted) => isReason(code, wanted)),
    limit: limit ?? Infinity,
    perSecond: rate,
    everything: all && limit === undefined,
  };
}

function nothingChosen(letters: DeadLetter[]): string {
  const sentence = `Nothing to move: ${plural(letters.length, "message")} in the dead-letter queue, none chosen.`;
  const reasons = groupByReason(letters).map(({ code }) => code);
  return reasons.length === 0 ? sentence : `${sentence} The reasons there: ${reasons.join(", ")}.`;
}

/** What would go where. */
function proposal(chosen: DeadLetter[], from: string, to: string): string {
  const groups = groupByReason(chosen).map(
    ({ code, why, next, letters }) => `${plural(letters.length, "message")}   ${code}
  ${why}
  ${next}
  ${someNames(letters)}
`,
  );
  return `from  ${from}\nto    ${to}\n\n${groups.join("\n")}`;
}

const LINE = 96;

/** As many of their names as fit into a line, and one at the least. */
function someNames(letters: DeadLetter[]): string {
  let line = "";
  for (const name of letters.map(nameOf)) {
    const longer = line === "" ? name : `${line}, ${name}`;
    if (line !== "" && longer.length > LINE) return `${line}, …`;
    line = longer;
  }
  return line;
}

async function move(
  queue: DeadLetterQueue,
  to: string,
  chosen: DeadLetter[],
  { everything, perSecond }: Choice,
  signal: AbortSignal,
): Promise<{ count: number; moved: DeadLetter[]; problems: string[] }> {
  if (!everything) {
    const some = await moveSelected(queue, to, chosen, perSecond, signal);
    return { count: some.moved.length, ...some };
  }
  const [{ arn: from }, { arn }] = await Promise.all([
    depthOf(queue.sqs, queue.url),
    depthOf(sqsFor(to), to),
  ]);
  const task = { from, to: arn, expected: chosen.length, perSecond };
  const { moved: count, problem } = await moveAll(queue.sqs, task, signal);
  if (problem === undefined) return { count: chosen.length, moved: chosen, problems: [] };
  // SQS counts the messages that it moved, and does not name them.
  const left = `${count.toLocaleString("en-US")} of ${plural(chosen.length, "message")} moved, as SQS counts; payments dlq shows what is left`;
  return { count, moved: [], problems: [`${problem}: ${left}.`] };
}

function report(count: number, results: FollowedUp[], to: string): string {
  if (results.length === 0) return `${plural(count, "message")} moved to ${to}.`;
  const rows = results.map(({ letter, kind, sentence }) => [nameOf(letter), NAMES[kind], sentence]);
  const counts = (["outcome", "back", "open"] as const).map((kind) => {
    const many = results.filter((result) => result.kind === kind).length;
    return `${many.toLocaleString("en-US")} ${NAMES[kind]}`;
  });
  return `${table(["message", "result", ""], rows)}\n\n${plural(count, "message")} moved: ${counts.join(", ")}.`;
}

const NAMES = {
  outcome: "with an outcome",
  back: "back in the dead-letter queue",
  open: "still open",
} as const;

function forScripts({ letter, kind, sentence }: FollowedUp) {
  const { messageId, sqsMessageId } = letter;
  return { messageId, sqsMessageId, result: kind, sentence };
}
