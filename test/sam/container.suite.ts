// `sam local invoke` as the README prints it, in real containers. Fails where Docker, the SAM CLI or
// an image is missing.
import { execFile } from "node:child_process";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, expect, test } from "vitest";

import { bridgeAddress } from "../../scripts/sam/docker.ts";
import { startOperator, until } from "../cli/operator.ts";
import type { Operator } from "../cli/operator.ts";
import { answerTo, SAMPLES } from "../scripts/samples.ts";
import type { Finished } from "../support/command.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const EVENTS = join(ROOT, "events");
const SAM = join(ROOT, ".local", "sam", "bin", "sam");
const SCRIPTS = join(ROOT, "scripts");

/** For SAM and the Docker client; no key of this machine's owner among it. */
const ENVIRONMENT = {
  PATH: [dirname(SAM), process.env["PATH"]].join(delimiter),
  ...(process.env["DOCKER_HOST"] && { DOCKER_HOST: process.env["DOCKER_HOST"] }),
  HOME: process.env["HOME"] ?? "/",
  SAM_CLI_TELEMETRY: "0",
};

let operator: Operator;
let containersBefore: string;
const cleanUps: (() => void | Promise<void>)[] = [];

beforeAll(async () => {
  containersBefore = await containers();
  operator = await startOperator({}, (cleanUp) => cleanUps.push(cleanUp));
});

afterAll(async () => {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
});

async function containers(): Promise<string> {
  return (await promisify(execFile)("docker", ["ps", "--all", "--quiet"])).stdout;
}

const npmRunSam = (sample: string): string[] => [
  join(SCRIPTS, "sam.ts"),
  join(EVENTS, sample),
  "--skip-pull-image",
];

/** @throws Error with what SAM said, when it failed */
async function answerOf(sam: Promise<Finished>): Promise<unknown> {
  const { code, stdout, stderr } = await sam;
  if (code !== 0) throw new Error(`sam ended with ${code}: ${stderr}`);
  return JSON.parse(stdout);
}

test.each(Object.entries(SAMPLES))(
  "npm run sam -- events/%s charges one payment in a container, records it and answers SQS",
  async (sample, { failed, id }) => {
    const answer = await answerOf(
      operator.start(process.execPath, npmRunSam(sample), ENVIRONMENT).finished,
    );

    expect(answer).toEqual(answerTo(failed));
    expect(operator.charges(id)).toBe(1);
    expect(await operator.record(id)).toMatchObject({
      status: "COMPLETED",
      outcome: { result: "succeeded" },
    });
    expect(await containers()).toBe(containersBefore);
  },
);

test("nothing but a call for a container opens the local servers on Docker's bridge", async () => {
  const address = await bridgeAddress();
  const { port } = operator.stack.stripe;

  await expect(fetch(`http://${address}:${port}/v1/payment_intents`)).rejects.toMatchObject({
    cause: { code: "ECONNREFUSED" },
  });
});

test("npm run sam starts a stack of its own when none runs", async () => {
  const alone = await startOperator();
  await alone.stack.stop();
  await alone.start("rm", [join(".local", "stack.json")]).finished;

  const sam = alone.start(process.execPath, npmRunSam("payment.json"), ENVIRONMENT);

  expect(await answerOf(sam.finished)).toEqual({ batchItemFailures: [] });
});

test("the README's plain sam line charges once while npm start -- --container is up", async () => {
  const user = await startOperator();
  await user.start("rm", [join(".local", "stack.json")]).finished;
  const start = user.start(
    process.execPath,
    [join(SCRIPTS, "start.ts"), "--container"],
    ENVIRONMENT,
  );
  await until(() => start.output.stdout.includes("Deliveries:"));
  const files = await user.start(
    process.execPath,
    [join(SCRIPTS, "sam.ts"), "--files"],
    ENVIRONMENT,
  ).finished;
  expect(files).toMatchObject({
    code: 0,
    stdout:
      "sam local invoke --template .local/sam-template.json --event events/payment.json " +
      "--env-vars .local/sam-environment.json --region us-east-1 --add-host host.docker.internal:host-gateway\n",
  });

  const line = files.stdout.replace("events/payment.json", join(EVENTS, "payment.json"));
  const args = [...line.trim().split(" ").slice(1), "--skip-pull-image"];
  const validated = await user.start(
    SAM,
    ["validate", "--lint", "--template", ".local/sam-template.json"],
    { ...ENVIRONMENT, AWS_DEFAULT_REGION: "us-east-1" },
  ).finished;
  const invoked = user.start(SAM, args, ENVIRONMENT);
  const answer = await answerOf(invoked.finished);
  const status = await user.payments("status", "order-1001", "--json");
  start.child.kill("SIGINT");

  expect(validated.stdout).toContain("is a valid SAM Template");
  expect(answer).toEqual({ batchItemFailures: [] });
  expect(JSON.parse(status.stdout)).toMatchObject([{ record: { status: "COMPLETED" } }]);
  expect(await start.finished).toMatchObject({ code: 0 });
  expect(JSON.parse(logLine(invoked.output.stderr, "order-1001"))).toMatchObject({
    FunctionName: "PaymentWorker",
    Succeeded: 1,
    _aws: {
      CloudWatchMetrics: expect.arrayContaining([
        expect.objectContaining({ Namespace: "PaymentWorker" }),
      ]),
    },
  });
});

function logLine(log: string, id: string): string {
  return log.split("\n").find((line) => line.startsWith("{") && line.includes(id)) ?? "{}";
}
