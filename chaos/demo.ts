import { interruption, readArguments, runCommand, UsageError } from "../cli/terminal/command.ts";
// npm run demo: the worker among failures, and what became of each payment.
import { build } from "../scripts/build.ts";
import { faultTable, lastLine, messageTable } from "./demo/print.ts";
import { openStage } from "./demo/stage.ts";
import type { PlannedFault, Stage } from "./demo/stage.ts";
import { play } from "./demo/story.ts";
import { isKept, judge } from "./demo/verdict.ts";
import type { Evidence } from "./demo/verdict.ts";

const HELP = `
npm run demo      plays a few dozen payments through the worker, with everything that goes wrong

Queue, table, Stripe and worker run on this machine only, for about 15 seconds. Every number comes
from Stripe's ledger, the table and the queues. Exit status 0 when no payment was charged twice and
none was lost, and every planned fault really happened; 1 when not.
`;

await runCommand(async () => {
  const { positionals } = readArguments(HELP, {});
  if (positionals.length > 0) {
    throw new UsageError(`"${positionals[0]}" is not an option of the demo. See --help.`);
  }
  const startedAt = performance.now();
  const interrupted = interruption().then(() => undefined);
  await build();
  const stage = await openStage();
  const tell = (sentence: string): void => {
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    console.log(`${seconds.padStart(4)} s  ${sentence}`);
  };
  try {
    const faults = await Promise.race([play(stage, tell), interrupted]);
    if (faults) await conclude(stage, faults);
    else process.exitCode = 130;
  } finally {
    await stage.stack.stop();
  }
  // An interrupted story still waits for things that will not come.
  if (process.exitCode === 130) process.exit();
});

async function conclude(stage: Stage, faults: PlannedFault[]): Promise<void> {
  const verdict = judge(await gatherEvidence(stage));
  const kept = isKept(verdict);
  const played = faults.every((fault) => fault.happened() > 0);
  const lookups = stage.stack.stripe.ledger.requests().filter(({ method }) => method === "GET");
  console.log(`
${messageTable(verdict)}

  Stripe requests are those that carry the message id; lookups on top of them: ${lookups.length}.

${faultTable(faults)}
`);
  if (!kept)
    console.log(`The promise was broken. The worker's log:\n${stage.workerLog.join("\n")}`);
  if (!played) console.log("Not every planned fault happened: this run shows too little.");
  console.log(lastLine(verdict));
  if (!kept || !played) process.exitCode = 1;
}

/** Reads the servers; nothing in here comes from the worker. */
async function gatherEvidence({ stack, sent, watch }: Stage): Promise<Evidence> {
  const { stripe, table, queue, queues } = stack;
  const bodies = async (url: string): Promise<string[]> =>
    (await queue.messages(url)).map(({ body }) => body);
  return {
    sent,
    deliveries: watch.deliveries,
    stripeRequests: new Map(
      sent.map(({ id }) => [id, stripe.ledger.countsFor(id).requests] as const),
    ),
    intents: stripe.paymentIntents().map(({ id, amount, status, metadata }) => ({
      messageId: metadata["message_id"],
      id,
      amount,
      status,
    })),
    records: (await table.items(stack.tableName)) as Evidence["records"],
    deadLetters: await bodies(queues.dlqUrl),
    waiting: await bodies(queues.queueUrl),
  };
}
