import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, expect, test } from "vitest";

import { PaymentServiceStack } from "../../infra/payment-service-stack.ts";
import { DEV, newApp, PROD } from "./synth.ts";

const outputs: string[] = [];

afterEach(() => {
  for (const output of outputs.splice(0)) rmSync(output, { recursive: true });
});

/** Synthesizes both stages: each file that came out, with the hash of its bytes. */
function synthesize(): Record<string, string> {
  const output = mkdtempSync(join(tmpdir(), "synth-"));
  outputs.push(output);
  const app = newApp(output);
  for (const stage of [DEV, PROD]) {
    void new PaymentServiceStack(app, `PaymentWorker-${stage.name}`, stage);
  }
  app.synth();
  const files = readdirSync(output, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    files.map((file) => [
      file.slice(output.length + 1),
      createHash("sha256").update(readFileSync(file)).digest("hex"),
    ]),
  );
}

test("two syntheses are the same to the byte", () => {
  // In one line: CDK records the lines of code that made an output.
  const [first, second] = [1, 2].map(() => synthesize());

  expect(Object.keys(first ?? {})).toContain("PaymentWorker-prod.template.json");
  expect(second).toStrictEqual(first);
});

test("a redeployment keeps what holds data: these logical ids and names never change", () => {
  synthesize();
  const file = join(outputs[0] ?? "", "PaymentWorker-prod.template.json");
  const resources: Record<string, { Type: string; Properties: Record<string, unknown> }> =
    JSON.parse(readFileSync(file, "utf8")).Resources;

  // Changing one of these makes CloudFormation create an empty replacement.
  expect(resources["PaymentWorkerRecordsTableA6710E22"]).toMatchObject({
    Type: "AWS::DynamoDB::Table",
    Properties: { KeySchema: [{ AttributeName: "messageId", KeyType: "HASH" }] },
  });
  expect(resources["PaymentWorkerRecordsTableA6710E22"]?.Properties).not.toHaveProperty(
    "TableName",
  );
  expect(resources["PaymentWorkerQueuesPayments4FD18E9E"]).toMatchObject({
    Type: "AWS::SQS::Queue",
    Properties: { QueueName: "PaymentWorkerprod-PaymentWorker-Queues-428727E0" },
  });
  expect(resources["PaymentWorkerQueuesDeadLettersFDC9BA4D"]?.Type).toBe("AWS::SQS::Queue");
  expect(resources["PaymentWorkerStripeKeyA500C609"]?.Type).toBe("AWS::SecretsManager::Secret");
  expect(resources["PaymentWorkerFunction9F42CB01"]?.Type).toBe("AWS::Lambda::Function");
});
