// Prints the file for `sam local invoke --env-vars`: the function's variables, for the local stack.
import { readArguments, runCommand, UsageError } from "../cli/terminal/command.ts";
import { findRunningStack } from "./running-stack.ts";

const HELP = `
npm run --silent sam-environment > .local/sam.json     while npm start keeps the local stack up

Then, for the template of npx cdk synth:
  sam local invoke --template cdk.out/PaymentWorker-dev.template.json \\
    --event events/payment.json --env-vars .local/sam.json --docker-network host

The worker refuses messages that are older than its memory, and the samples in events/ get old: the
file raises MAX_MESSAGE_AGE_SECONDS and RECORD_TTL_SECONDS to decades.
`;

/** What `--env-vars` takes, for a worker with the environment `env`. */
export function samEnvironment(env: Record<string, string>): {
  Parameters: Record<string, string>;
} {
  return {
    Parameters: {
      ...env,
      STRIPE_SECRET_ARN: "", // the template's: the local Stripe takes the key of STRIPE_API_KEY
      MAX_MESSAGE_AGE_SECONDS: "864000000",
      RECORD_TTL_SECONDS: "950400000",
    },
  };
}

if (process.argv[1] === import.meta.filename) {
  await runCommand(async () => {
    readArguments(HELP, {});
    const running = findRunningStack();
    if (!running) {
      throw new UsageError(
        "There is no local stack to point at: keep `npm start` up, then run this.",
      );
    }
    process.stdout.write(`${JSON.stringify(samEnvironment(running.env), undefined, 2)}\n`);
  });
}
