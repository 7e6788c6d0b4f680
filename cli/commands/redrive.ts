// payments redrive: moves messages from the dead-letter queue to a queue that works on them.
import { styleText } from "node:util";

import { sqsFor } from "../clients/clients.ts";
import { findTarget, need, refuseOtherThanQueueUrl, TARGET_OPTIONS } from "../clients/target.ts";
import { deadLetterQueueOf, groupByReason, readDeadLetters } from "../queue/dead-letters.ts";
import type { DeadLetter, DeadLetterQueue } from "../queue/dead-letters.ts";
import { followUp } from "../queue/follow-up.ts";
import type { Ended } from "../queue/follow-up.ts";
import { moveSelected } from "../queue/move-selected.ts";
import { moveAll } from "../queue/move-task.ts";
import { depthOf } from "../queue/peek.ts";
import { isKnownReason, isReason, REASON_KINDS } from "../queue/reason.ts";
import { readArguments, UsageError } from "../terminal/command.ts";
import { confirm } from "../terminal/confirm.ts";
import { interruptSignal } from "../terminal/interrupt.ts";
import { refuseEmptyIds } from "../terminal/message-id.ts";
import { plural, printJson, say } from "../terminal/print.ts";
import { table } from "../terminal/table.ts";
import { nameOf, warnings } from "./dlq.ts";

const HELP = `
npm run payments -- redrive (--id ID… | --reason REASON… | --all) [options]

Moves messages from the dead-letter queue back to the queue: shows them, asks, moves them, and says how
each one ended.

Which
  --id ID          this message (its message id, or SQS's own when it has none); may be repeated
  --reason REASON  those with this reason, as payments dlq shows it: stripe_unavailable, or
                   stripe_unavailable/http_503; may be repeated
  --all            all of them
  --limit N        of these, no more than N

How
  --rate N         no more than N a second
  --to URL         to this queue instead of the one that they came from, to set them aside say
  --wait SECONDS   how long to watch for outcomes (default 60)
  --yes            does not ask
  --json           for scripts

A redrive is always safe. The message id is the sender's and stays the same, whatever SQS calls the
message: what has an outcome is acknowledged without a call to Stripe; what was charged without a record
is found by the same idempotency key, and after the key window by a lookup before any charge; a refusal
or a conflict is never charged, and comes back here. So redriving twice, or too much, charges nobody twice.

--all is SQS's own move task, which Ctrl-C cancels. Anything less is received, sent and then deleted one by
one, in this order: whatever happens in between, a message may be there twice, and never not at all.

Examples
  npm run payments -- redrive --id order-1
  npm run payments -- redrive --reason stripe_unavailable --rate 5
  npm run payments -- redrive --all --yes --stack PaymentWorker-prod
  npm run payments -- redrive --reason invalid --to https://sqs.eu-west-1.amazonaws.com/1/answered

Needs the queue, the dead-letter queue and the table. Other places: payments --help.
Exit status 3 when some have no outcome at the end.
`;

type Choice = {
  wanted: (letter: DeadLetter) => boolean;
  limit: number;
  perSecond: number | undefined;
  /** Whether SQS's move task can do it. */
  everything: boolean;
};

export async function run(args: string[]): Promise<void> {
  const { values, positionals } = readArguments(
    HELP,
    {
      ...TARGET_OPTIONS,
      id: { type: "string", multiple: true, default: [] },
      reason: { type: "string", multiple: true, default: [] },
      all: { type: "boolean", default: false },
      limit: { type: "string" },
      rate: { type: "string" },
      to: { type: "string" },
      wait: { type: "string", default: "60" },
      yes: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
    },
    args,
  );
  if (positionals.length > 0) {
    throw new UsageError(`"${positionals[0]}" is not an option of redrive: use --id. See --help.`);
  }
  refuseEmptyIds(values.id);
  refuseOtherThanQueueUrl("--to", values.to);
  const choice = readChoice(values);
  const waitMs = 1_000 * wholeNumber("--wait", values.wait, 0);
  const target = await findTarget(values);
  const queue = deadLetterQueueOf(target);
  const to = values.to ?? need(target, "queueUrl");
  const signal = interruptSignal();

  const { letters, peek, depth } = await readDeadLetters(queue, signal);
  const chosen = letters.filter(choice.wanted).slice(0, choice.limit);
  for (const warning of warnings(peek, depth)) say(warning);
  if (signal.aborted) {
    say("Nothing was moved.");
    process.exitCode = 130;
    return;
  }
  if (chosen.length === 0) {
    if (values.json) printJson({ moved: 0, messages: [] });
    say(nothingChosen(letters));
    return;
  }
  say(proposal(chosen, queue.url, to));
  const question = `Move ${plural(chosen.length, "message")}?`;
  if (!(await confirm(question, { yes: values.yes, signal }))) {
    say("Nothing was moved.");
    process.exitCode = signal.aborted ? 130 : 0;
    return;
  }

  const { moved, problems } = await move(queue, to, chosen, choice, signal);
  for (const problem of problems) say(styleText("red", problem));
  const watched = values.to === undefined;
  const endings = watched ? await followUp(queue, moved, waitMs, signal) : [];
  if (values.json) {
    printJson({ moved: moved.length, problems, messages: endings.map(forScripts) });
  } else {
    process.stdout.write(`${report(moved.length, endings, to)}\n`);
  }
  if (problems.length > 0 || endings.some(({ kind }) => kind !== "outcome")) process.exitCode = 3;
  if (signal.aborted) process.exitCode = 130;
}

function readChoice(values: {
  id: string[];
  reason: string[];
  all: boolean;
  limit?: string | undefined;
  rate?: string | undefined;
}): Choice {
  const { id, reason, all } = values;
  if (Number(id.length > 0) + Number(reason.length > 0) + Number(all) !== 1) {
    throw new UsageError("Say which messages to move: --id, --reason or --all. See --help.");
  }
  for (const wanted of reason) {
    if (isKnownReason(wanted)) continue;
    throw new UsageError(
      `--reason "${wanted}" is none that a dead letter can have: ${REASON_KINDS.join(", ")}, and what dlq --summary shows after the slash.`,
    );
  }
  const ids = new Set(id);
  return {
    wanted: ({ messageId, sqsMessageId, code }) =>
      all ||
      ids.has(messageId ?? sqsMessageId) ||
      ids.has(sqsMessageId) ||
      reason.some((wanted) => isReason(code, wanted)),
    limit: values.limit === undefined ? Infinity : wholeNumber("--limit", values.limit, 1),
    perSecond: values.rate === undefined ? undefined : wholeNumber("--rate", values.rate, 1, 500),
    everything: all && values.limit === undefined,
  };
}

function wholeNumber(option: string, value: string, least: number, most = 999_999): number {
  const number = /^\d{1,6}$/.test(value) ? Number(value) : NaN;
  if (number >= least && number <= most) return number;
  throw new UsageError(`${option} must be an integer from ${least} to ${most}, not "${value}".`);
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
  choice: Choice,
  signal: AbortSignal,
): Promise<{ moved: DeadLetter[]; problems: string[] }> {
  const sqs = sqsFor(to);
  const { perSecond } = choice;
  if (choice.everything) {
    const [{ arn: from }, { arn }] = await Promise.all([
      depthOf(queue.sqs, queue.url),
      depthOf(sqs, to),
    ]);
    const task = { from, to: arn, expected: chosen.length, perSecond };
    const { moved, problem } = await moveAll(queue.sqs, task, signal);
    // SQS tells how many, not which: with a problem, those without an outcome may still be there.
    return problem === undefined
      ? { moved: chosen, problems: [] }
      : { moved: chosen, problems: [`${problem}; about ${plural(moved, "message")} moved.`] };
  }
  // Those that were shown, and no other that came since.
  const shown = new Set(chosen.map(({ sqsMessageId }) => sqsMessageId));
  const { moved, notDeleted, notSent } = await moveSelected(
    queue,
    { sqs, url: to },
    {
      wanted: ({ sqsMessageId }) => shown.has(sqsMessageId),
      limit: chosen.length,
      perSecond,
      expected: (await depthOf(queue.sqs, queue.url)).visible,
    },
    signal,
  );
  const problems = notSent.map(({ letter, problem }) => `${nameOf(letter)} stayed: ${problem}`);
  if (notDeleted > 0) {
    problems.push(
      `${plural(notDeleted, "message")} could not be deleted and are in both queues: that is harmless, and a further redrive removes them.`,
    );
  }
  return { moved, problems };
}

function report(moved: number, endings: Ended[], to: string): string {
  if (endings.length === 0) return `${plural(moved, "message")} moved to ${to}.`;
  const rows = endings.map(({ letter, kind, sentence }) => [nameOf(letter), NAMES[kind], sentence]);
  const counts = (["outcome", "back", "open"] as const)
    .map((kind) => `${endings.filter((ended) => ended.kind === kind).length} ${NAMES[kind]}`)
    .join(", ");
  return `${table(["message", "ended", ""], rows)}\n\n${plural(moved, "message")} moved: ${counts}.`;
}

const NAMES = {
  outcome: "with an outcome",
  back: "back in the dead-letter queue",
  open: "still open",
} as const;

function forScripts({ letter, kind, sentence }: Ended) {
  const { messageId, sqsMessageId } = letter;
  return { messageId, sqsMessageId, ended: kind, sentence };
}
