// What `sam local invoke` is given: a template that holds the function and nothing else, and the
// values of its variables.
import { join } from "node:path";

import { DEFAULT_TIMINGS } from "../../lib/timing/payments.ts";
import { timingVariables } from "../../lib/timing/variables.ts";

const CODE = join(import.meta.dirname, "..", "..", "dist", "payment-worker");
const DAY_MS = 24 * 60 * 60 * 1_000;

/** As deployed, but for the age of a message: the samples in events/ get old. */
export const ONE_EVENT_VARIABLES = timingVariables({
  ...DEFAULT_TIMINGS,
  maxMessageAgeMs: 10_000 * DAY_MS,
  recordTtlMs: 11_000 * DAY_MS,
});

/** The name under which a container reaches the machine that it runs on. */
export const HOST = "host.docker.internal";

/** No template may declare them; SAM sets them too. */
const SET_BY_LAMBDA = new Set([
  "AWS_ACCESS_KEY_ID",
  "AWS_LAMBDA_FUNCTION_NAME",
  "AWS_REGION",
  "AWS_SECRET_ACCESS_KEY",
]);

/**
 * The worker's variables as a container needs them.
 *
 * @param env those of a local stack, whose endpoints are on 127.0.0.1
 */
export function containerVariables(env: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries({ ...env, ...ONE_EVENT_VARIABLES })
      .filter(([name]) => !SET_BY_LAMBDA.has(name))
      .map(([name, value]) => [name, value.replace("http://127.0.0.1:", `http://${HOST}:`)]),
  );
}

/** What `--env-vars` takes: unlike the template's values, these win over variables of the shell. */
export function samEnvironment(variables: Record<string, string>): unknown {
  return { Parameters: variables };
}

/**
 * The function as infra/ deploys it (a test compares them), on this machine's processor. SAM sets no variable that the
 * template does not declare.
 */
export function samTemplate(
  architecture: "arm64" | "x86_64",
  variables: Record<string, string>,
): unknown {
  return {
    AWSTemplateFormatVersion: "2010-09-09",
    Transform: "AWS::Serverless-2016-10-31",
    Resources: {
      PaymentWorker: {
        Type: "AWS::Serverless::Function",
        Properties: {
          CodeUri: CODE,
          Handler: "init.handler",
          Runtime: "nodejs24.x",
          Architectures: [architecture],
          MemorySize: 256,
          Timeout: DEFAULT_TIMINGS.functionTimeoutMs / 1_000,
          LoggingConfig: { LogFormat: "JSON" },
          Environment: {
            Variables: Object.fromEntries(Object.keys(variables).map((name) => [name, ""])),
          },
        },
      },
    },
  };
}
