// A deployment of app.ts: the emulator, the suite's own Stripe, and the CDK's command line as a person
// runs it.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { PutSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";

import { startStripe } from "../../local/stripe/server.ts";
import { startEmulator } from "./emulator.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const CDK = join(ROOT, "node_modules", "aws-cdk", "bin", "cdk");

export type Outputs = Record<string, string>;
export type Deployment = Awaited<ReturnType<typeof startDeployment>>;

/** Starts both servers; `now` is Stripe's clock. */
export async function startDeployment(now: () => number = Date.now) {
  const folder = mkdtempSync(join(tmpdir(), "deploy-"));
  const [emulator, stripe] = await Promise.all([startEmulator(folder), startStripe({ now })]);
  const sqs = new SQSClient(emulator.client);
  const secrets = new SecretsManagerClient(emulator.client);

  /**
   * Runs a CDK command on app.ts, and returns what it printed.
   *
   * @throws Error with the end of its output when it fails.
   */
  const run = async (settings: Record<string, string>, ...args: string[]): Promise<string> => {
    const app = ["--app", "node test/deploy/app.ts", "--output", join(folder, "cdk.out")];
    const child = spawn(process.execPath, [CDK, "--no-notices", "--no-color", ...args, ...app], {
      cwd: ROOT,
      env: { ...emulator.environment, STRIPE_API_BASE: stripe.url, ...settings },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const output: string[] = [];
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => output.push(text));
    }
    const status = await new Promise((resolve) => child.once("close", resolve));
    const text = output.join("");
    if (status !== 0) throw new Error(`cdk ${args.join(" ")} failed: ${text.slice(-4_000)}`);
    return text;
  };

  return {
    emulator,
    stripe,
    sqs,
    dynamodb: new DynamoDBClient(emulator.client),
    run,
    bootstrap: () => run({}, "bootstrap", "aws://000000000000/us-east-1"),
    /** Deploys the stack, and reads its outputs. */
    deploy: async (settings: Record<string, string>): Promise<Outputs> => {
      const file = join(folder, "outputs.json");
      await run(settings, "deploy", "--require-approval=never", "--outputs-file", file);
      return (JSON.parse(readFileSync(file, "utf8")) as Record<string, Outputs>)[
        "PaymentWorker-dev"
      ]!;
    },
    putSecret: async (SecretId: string | undefined, SecretString: string): Promise<void> => {
      await secrets.send(new PutSecretValueCommand({ SecretId, SecretString }));
    },
    send: async (QueueUrl: string | undefined, id: string, changes: object = {}): Promise<void> => {
      const payment = {
        id,
        createdAt: new Date().toISOString(),
        amount: 1250,
        currency: "eur",
        customer: "cus_deployed",
        paymentMethod: "pm_card_visa",
        ...changes,
      };
      await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: JSON.stringify(payment) }));
    },
    stop: async (): Promise<void> => {
      await Promise.all([emulator.stop(), stripe.stop()]);
      rmSync(folder, { recursive: true });
    },
  };
}
