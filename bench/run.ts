// npm run bench [-- --json]: the shipped worker beside what people build today, in one run.

import { flag, readArguments } from "../cli/terminal/arguments.ts";
import { runCommand } from "../cli/terminal/command.ts";
import { measureCold } from "./cold.ts";
import { limits, markdown } from "./report.ts";
import { countRequests } from "./requests.ts";
import { BATCH } from "./rounds.ts";
import { startServers } from "./servers.ts";
import type { Addresses } from "./servers.ts";
import { targetsOf } from "./targets.ts";
import { createThrottle } from "./throttle.ts";
import { CERTIFICATE } from "./tls.ts";
import { buildVariants, trimmedPowertoolsBytes } from "./variants.ts";
import { measureWarm } from "./warm.ts";

const COMMAND = {
  name: "bench",
  usage: "npm run bench -- [--json]",
  about:
    "Measures the shipped worker beside Powertools, the naive way and bare HTTP: about ten minutes.",
  options: { json: flag("every figure as JSON, instead of Markdown") },
};

const say = (step: string) => process.stderr.write(`${step}\n`);

async function main(): Promise<void> {
  const { values } = readArguments(COMMAND);
  say("building the variants");
  const bundles = await buildVariants();
  const trimmedPowertools = await trimmedPowertoolsBytes();
  const servers = await startServers();
  const throttle = createThrottle();
  const bench = {
    servers,
    bundles,
    env: environment(servers.plain),
    tlsEnv: { ...environment(servers.tls), NODE_EXTRA_CA_CERTS: CERTIFICATE },
    throttle,
  };
  const stop = async () => {
    servers.stop();
    await throttle?.remove();
  };
  process.once("SIGINT", () => void stop().then(() => process.exit(130)));
  try {
    say("counting requests");
    const requests = await countRequests(bench);
    say("cold starts: some minutes");
    const cold = await measureCold(bench);
    say("warm batches: some minutes");
    const warm = await measureWarm(bench);
    const results = { bundles, trimmedPowertools, cold, warm, requests };
    console.log(
      values.json
        ? JSON.stringify(
            { limits: limits(throttle !== undefined), targets: targetsOf(results), ...results },
            undefined,
            2,
          )
        : markdown(results),
    );
  } finally {
    await stop();
  }
}

function environment({ table, stripe }: Addresses): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "",
    AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x",
    AWS_LAMBDA_FUNCTION_NAME: "payment-worker",
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "bench",
    AWS_SECRET_ACCESS_KEY: "bench",
    AWS_SESSION_TOKEN: "bench",
    AWS_ENDPOINT_URL_DYNAMODB: table,
    AWS_ENDPOINT_URL_SQS: table,
    BATCH_SIZE: String(BATCH),
    RECORDS_TABLE: "payments",
    QUEUE_URL: "http://127.0.0.1/000000000000/payments",
    STRIPE_API_BASE: stripe,
    STRIPE_API_KEY: "sk_test_bench",
  };
}

await runCommand(main);
