// npm run payments -- <command>: what an operator needs, local and in AWS.
import { readFileSync } from "node:fs";

import { runCommand, UsageError } from "./terminal/command.ts";

const COMMANDS = [
  ["overview", "the queues now, and the results of the last 15 minutes by code"],
  ["watch", "the same, refreshed until Ctrl-C"],
  ["send", "puts payment messages into the queue"],
  ["status ID…", "explains what became of a message, and where it is now"],
  ["history ID…", "shows each delivery of a message, and when it comes next"],
  ["dlq", "shows what is in the dead-letter queue, and why"],
  ["redrive", "moves messages from the dead-letter queue back to the queue"],
  ["reconcile", "compares the records with Stripe, both ways, and repairs records"],
  ["republish", "publishes outcome events again, from the records"],
  ["ledger", "adds up the orders' ledger, and compares it with Stripe"],
  ["tail", "follows the outcomes in the worker's log"],
] as const;

const HELP = `npm run payments -- <command> [options]

Inspects and repairs payments, locally and in AWS.

${COMMANDS.map(([name, does]) => `  ${name.padEnd(20)}${does}`).join("\n")}

Each has --help with examples, and --json for scripts: results go to stdout, progress to stderr.
npm's --silent leaves out its own lines: npm run --silent payments -- dlq --json > dlq.json.

Target
  --stack NAME        a deployed stack; its outputs are read from CloudFormation
  --outputs FILE      the same, from the file that cdk deploy --outputs-file FILE wrote
  --queue-url, --dlq-url, --table, --secret-arn, --log-group, --event-bus, --event-source,
  --orders-table      one at a time; each overrides --stack and --outputs
  none of them        the local stack that npm start runs

Region and credentials are the AWS SDK's: AWS_REGION, AWS_PROFILE and so on. The Stripe key comes
from the secret; STRIPE_API_KEY in the environment replaces it, and a restricted key that may only
read PaymentIntents is enough. The local stack has a key of its own.

Nothing is deleted, moved or charged without being shown and confirmed; --yes confirms for scripts.

Exit status
  0    done, and all is well
  1    failed: AWS or Stripe did not answer, or answered with an error
  2    wrong usage
  3    done, and something needs you
  130  interrupted
`;

await runCommand(async () => {
  const [name, ...args] = process.argv.slice(2);
  if (name === undefined || name === "--help" || name === "-h" || name === "help") {
    process.stdout.write(HELP);
    if (name === undefined) process.exitCode = 2;
    return;
  }
  if (name === "--version") {
    const file = new URL("../package.json", import.meta.url);
    const { version } = JSON.parse(readFileSync(file, "utf8")) as { version: string };
    console.log(version);
    return;
  }
  if (!COMMANDS.some(([command]) => command.split(" ")[0] === name)) {
    throw new UsageError(`"${name}" is not a command of payments: see npm run payments -- --help.`);
  }
  // Only the command that runs is loaded: the AWS clients of the others take a while.
  const command = (await import(`./commands/${name}.ts`)) as {
    run: (args: string[]) => Promise<void>;
  };
  try {
    await command.run(args);
  } catch (error) {
    const sentence = explainFailure(error);
    if (sentence === undefined) throw error;
    process.stderr.write(`${sentence}\n`);
    process.exitCode = 1;
  }
});

/** What AWS or Stripe answered, as a sentence: a stack trace of their clients is no help. */
function explainFailure(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { name, message } = error;
  if (name === "CredentialsProviderError") {
    return `There are no AWS credentials: sign in, or set AWS_PROFILE. (${message})`;
  }
  if (message.startsWith("Region is missing")) {
    return "There is no AWS region: set AWS_REGION, or one in your profile.";
  }
  // The SDK marks what never reached AWS as it marks what AWS answered.
  if ("$metadata" in error && "code" in error) return `AWS did not answer: ${message}`;
  if ("$metadata" in error) return `AWS did not accept the call: ${name}: ${message}`;
  if ("rawType" in error) return `Stripe did not accept the call: ${message}`;
  if (name === "NoStripeKey" || "code" in error) return message;
  return undefined;
}
