import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..", "..");
const CDK = join(ROOT, "node_modules", "aws-cdk", "bin", "cdk");

export type Outputs = Record<
  | "QueueUrl"
  | "DlqUrl"
  | "TableName"
  | "FunctionName"
  | "SecretArn"
  | "LogGroupName"
  | "SecondQueueUrl",
  string
>;

/**
 * Runs the CDK's command line as a person would and returns what it printed.
 *
 * @throws Error with the end of its output when it fails.
 */
export async function cdk(
  env: Record<string, string | undefined>,
  ...args: string[]
): Promise<string> {
  const child = spawn(process.execPath, [CDK, "--no-notices", "--no-color", ...args], {
    cwd: ROOT,
    env,
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
}

/** What `--outputs-file` wrote for the stack. */
export function readOutputs(file: string): Outputs {
  return JSON.parse(readFileSync(file, "utf8"))["PaymentWorker-dev"];
}
