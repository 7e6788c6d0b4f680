// payments dlq: what is in the dead-letter queue, and why.
import { findTarget, TARGET_OPTIONS } from "../clients/target.ts";
import {
  deadLetterQueueOf,
  groupByReason,
  nameOf,
  readDeadLetters,
} from "../queue/dead-letters.ts";
import type { DeadLetter } from "../queue/dead-letters.ts";
import type { Depth, Received } from "../queue/peek.ts";
import { warnings } from "../queue/warnings.ts";
import { flag, readArguments, text } from "../terminal/arguments.ts";
import { interruptSignal } from "../terminal/command.ts";
import { labeled, plural, printJson, say } from "../terminal/print.ts";
import { duration } from "../terminal/progress.ts";
import { table } from "../terminal/table.ts";

export const COMMAND = {
  name: "dlq",
  usage: "npm run payments -- dlq [options]",
  about: "Shows what is in the dead-letter queue and why, oldest first.",
  options: {
    ...TARGET_OPTIONS,
    summary: flag("one paragraph per reason, with what to do"),
    show: text(
      "ID",
      "this message's body with its values masked, and for a conflict the fields that differ; ID is its message id, or SQS's own",
    ),
    json: flag("for scripts"),
  },
  notes: `
For each message: its id, its age, the time left before SQS deletes it, and the reason. An invalid
message is decoded again; any other reason is the last error on its record, with Stripe's request id
for Stripe's dashboard and support.

Nothing is consumed. SQS cannot be read without receiving: each message's receive count goes up by
one, which does no harm in a dead-letter queue, and it is hidden while the command runs.

Needs the dead-letter queue and the table; --show asks Stripe about a conflict, if the secret is named.
Other targets: payments --help.`,
  examples: [
    "npm run payments -- dlq --show order-1",
    "npm run payments -- dlq --summary",
    "npm run payments -- dlq --stack PaymentWorker-prod",
    "npm run --silent payments -- dlq --json > dead-letters.json",
  ],
};

export async function run(args: string[]): Promise<void> {
  const { values } = readArguments(COMMAND, args);
  const target = await findTarget(values);
  const signal = interruptSignal();
  const queue = deadLetterQueueOf(target);
  const shown: { letter: DeadLetter; received: Received }[] = [];
  const { letters, depth, peek } = await readDeadLetters(queue, signal, (letter, received) => {
    const { messageId, sqsMessageId } = letter;
    if (values.show === messageId || values.show === sqsMessageId) shown.push({ letter, received });
  });
  const now = Date.now();

  if (values.show !== undefined) {
    if (shown.length === 0) {
      say(`Not in the dead-letter queue: ${values.show}. payments status says where it is.`);
      process.exitCode = 3;
    }
    // Loads Stripe's client, which the others do without.
    const { detailsOf } = await import("../explain/show-letter.ts");
    const details = await Promise.all(shown.map((one) => detailsOf(one, queue, target, now)));
    if (values.json) printJson(details);
    else
      for (const { body, ...rest } of details)
        console.log(`${labeled(Object.entries(rest))}\n\n${body}\n`);
  } else if (values.json) {
    printJson({
      messages: letters.map((letter) => forScripts(letter, now, depth)),
      complete: peek.complete,
    });
  } else if (letters.length === 0) {
    console.log("The dead-letter queue is empty.");
  } else {
    console.log(values.summary ? summary(letters, now, depth) : list(letters, now, depth));
  }
  for (const warning of warnings(peek, depth, letters.length)) say(warning);
  if (signal.aborted) process.exitCode = 130;
}

function list(letters: DeadLetter[], now: number, depth: Depth): string {
  const rows = letters.map((letter) => [
    nameOf(letter),
    duration(now - letter.sentAt),
    timeLeft(letter, now, depth),
    letter.stripeRequestId ?? "",
    letter.code,
    letter.why,
  ]);
  const head = ["message", "age", "left", "Stripe request", "reason", ""];
  return `${table(head, rows)}\n\n${plural(letters.length, "message")}. By reason, with what to do: --summary.`;
}

function summary(letters: DeadLetter[], now: number, depth: Depth): string {
  const groups = groupByReason(letters).map(({ code, why, next, letters, oldest }) => {
    const age = `${duration(now - oldest.sentAt)} old, ${timeLeft(oldest, now, depth)} left`;
    return `${plural(letters.length, "message")}   ${code}   oldest ${nameOf(oldest)}, ${age}\n  ${why}\n  ${next}`;
  });
  return `${groups.join("\n\n")}\n\n${plural(letters.length, "message")} in all.`;
}

/** SQS counts the retention from when the message was first sent, also in a dead-letter queue. */
function timeLeft({ sentAt }: DeadLetter, now: number, { retentionMs }: Depth): string {
  return duration(sentAt + retentionMs - now);
}

function forScripts(letter: DeadLetter, now: number, { retentionMs }: Depth) {
  const { messageId, sqsMessageId, sentAt, receiveCount, code, why, next } = letter;
  return {
    messageId,
    sqsMessageId,
    sentAt: new Date(sentAt).toISOString(),
    ageSeconds: Math.round((now - sentAt) / 1_000),
    secondsLeft: Math.round((sentAt + retentionMs - now) / 1_000),
    receiveCount,
    reason: code,
    why,
    next,
    stripeRequestId: letter.stripeRequestId,
  };
}
