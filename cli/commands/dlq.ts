import { findTarget, TARGET_OPTIONS } from "../clients/target.ts";
import { deadLetterQueueOf, groupByReason, readDeadLetters } from "../queue/dead-letters.ts";
import type { DeadLetter } from "../queue/dead-letters.ts";
import type { Depth, Peek } from "../queue/peek.ts";
// payments dlq: what is in the dead-letter queue, and why.
import { readArguments, UsageError } from "../terminal/command.ts";
import { interruptSignal } from "../terminal/interrupt.ts";
import { plural, printJson } from "../terminal/print.ts";
import { duration } from "../terminal/progress.ts";
import { table } from "../terminal/table.ts";

const HELP = `
npm run payments -- dlq [--summary] [--json]      shows what is in the dead-letter queue, oldest first

  --summary    one row a reason, and what helps
  --json       for scripts

For each message: its id, its age, the time left before SQS deletes it, and the reason. A refusal is
found by decoding the message again, any other reason is the last error on its record, with Stripe's
request id for its dashboard and its support.

Nothing is consumed. SQS has no way to read without receiving: each message's receive count goes up
by one, which in a dead-letter queue matters to nobody, and it is hidden while the look lasts.

Examples
  npm run payments -- dlq --summary
  npm run payments -- dlq --stack PaymentWorker-prod
  npm run payments -- dlq --json | jq -r '.messages[] | select(.reason == "conflict") | .messageId'

Needs the dead-letter queue and the table. Other places: payments --help.
`;

export async function run(args: string[]): Promise<void> {
  const { values, positionals } = readArguments(
    HELP,
    {
      ...TARGET_OPTIONS,
      summary: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
    },
    args,
  );
  if (positionals.length > 0) {
    throw new UsageError(`"${positionals[0]}" is not an option of dlq. See --help.`);
  }
  const target = await findTarget(values);
  const signal = interruptSignal();
  const { letters, depth, peek } = await readDeadLetters(deadLetterQueueOf(target), signal);
  const now = Date.now();

  if (values.json) {
    printJson({
      messages: letters.map((letter) => forScripts(letter, now, depth)),
      complete: peek.complete,
    });
  } else {
    const text = values.summary ? summary(letters, now, depth) : list(letters, now, depth);
    process.stdout.write(`${text}\n`);
  }
  for (const warning of warnings(peek, depth)) process.stderr.write(`${warning}\n`);
  if (signal.aborted) process.exitCode = 130;
}

function list(letters: DeadLetter[], now: number, depth: Depth): string {
  if (letters.length === 0) return "The dead-letter queue is empty.";
  const rows = letters.map((letter) => [
    nameOf(letter),
    duration(now - letter.sentAt),
    timeLeft(letter, now, depth),
    letter.stripeRequestId ?? "",
    letter.code,
    letter.why,
  ]);
  return `${table(["message", "age", "left", "Stripe request", "reason", ""], rows)}\n\n${plural(letters.length, "message")}. By reason, and what helps: --summary.`;
}

function summary(letters: DeadLetter[], now: number, depth: Depth): string {
  if (letters.length === 0) return "The dead-letter queue is empty.";
  const groups = groupByReason(letters).map(({ code, why, next, letters }) => {
    const [oldest] = letters;
    return `${plural(letters.length, "message")}   ${code}   oldest ${oldest ? nameOf(oldest) : ""}, ${oldest ? `${duration(now - oldest.sentAt)} old, ${timeLeft(oldest, now, depth)} left` : ""}
  ${why}
  ${next}`;
  });
  return `${groups.join("\n\n")}\n\n${plural(letters.length, "message")} in all.`;
}

/** The message id, or SQS's own for a body without a readable one. */
export function nameOf({ messageId, sqsMessageId }: DeadLetter): string {
  return messageId ?? `(no id) ${sqsMessageId}`;
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

/** What a person must know about the look itself. */
export function warnings({ complete, notGivenBack, hiddenSeconds }: Peek, depth: Depth): string[] {
  return [
    ...(complete ? [] : ["The look is not complete: it was interrupted, or SQS had no room left."]),
    ...(notGivenBack > 0
      ? [
          `${plural(notGivenBack, "message")} could not be given back at once: hidden for ${duration(hiddenSeconds * 1_000)} at most.`,
        ]
      : []),
    ...(depth.inFlight > 0
      ? [
          `${plural(depth.inFlight, "more message")} were hidden when the look began: another look or a redrive is at work.`,
        ]
      : []),
  ];
}
