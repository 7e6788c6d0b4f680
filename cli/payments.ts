// npm run payments -- <command>: what a person on call needs, local and in AWS.
import { runCommand, UsageError } from "./terminal/command.ts";

const HELP = `
npm run payments -- <command> [options]      look after payments, local and in AWS

  send                puts payment messages into the queue
  status ID…          explains what became of a message; --stripe puts the truth at Stripe beside it
  dlq                 shows what is in the dead-letter queue, and why; --summary by reason
  redrive             moves messages from the dead-letter queue back to the queue
  reconcile           compares the records with Stripe, both ways; --repair mends what can be mended
  tail                follows the outcomes in the worker's log

Each has --help with examples, and --json for scripts (results go to stdout, progress to stderr).

Where it looks
  --stack NAME        a deployed stack, by the outputs that CloudFormation has of it
  --outputs FILE      the same from the file of: cdk deploy --outputs-file FILE
  --queue-url, --dlq-url, --table, --secret-arn, --log-group
                      one by one; each takes the place of what --stack or --outputs says
  none of them        the local stack that npm start keeps up

Region and credentials are the AWS SDK's: AWS_REGION, AWS_PROFILE and so on. The Stripe key comes
from the secret; STRIPE_API_KEY in the environment takes its place, a read-only restricted key say.

Nothing is deleted, moved or charged without being shown and confirmed; --yes confirms for scripts.

Exit status 0 done, and all is well; 1 it failed; 2 it was called wrongly; 3 done, and something
needs you; 130 interrupted.
`;

const COMMANDS = new Set(["send", "status", "dlq", "redrive", "reconcile", "tail"]);

await runCommand(async () => {
  const [name, ...args] = process.argv.slice(2);
  if (name === undefined || name === "--help" || name === "-h" || name === "help") {
    process.stdout.write(`${HELP.trim()}\n`);
    if (name === undefined) process.exitCode = 2;
    return;
  }
  if (!COMMANDS.has(name)) {
    throw new UsageError(`"${name}" is not a command of payments: see npm run payments -- --help.`);
  }
  // Only the command that runs is loaded: the AWS clients of the others take a while.
  const command = (await import(`./commands/${name}.ts`)) as {
    run: (args: string[]) => Promise<void>;
  };
  try {
    await command.run(args);
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === undefined) throw error;
    process.stderr.write(`${refusal}\n`);
    process.exitCode = 1;
  }
});

/** What AWS or Stripe refused, as a sentence: a stack trace of their clients helps nobody. */
function refusalOf(error: unknown): string | undefined {
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
  if ("$metadata" in error) return `AWS refused the call: ${name}: ${message}`;
  if ("rawType" in error) return `Stripe refused the call: ${message}`;
  if (name === "NoStripeKey" || "code" in error) return message;
  return undefined;
}
