// Secrets Manager on a laptop: one secret, which an operator may put anew.
import { onTestFinished } from "vitest";

import { startAwsJsonServer } from "../../local/aws-json-server.ts";
import { errorReply, okReply } from "../../local/aws-json.ts";

const ARN = "arn:aws:secretsmanager:us-east-1:000000000000:secret:stripe";

/** Starts it with this value; it is gone when the test is. */
export async function startSecret(value: string) {
  let current = value;
  const server = await startAwsJsonServer({
    port: 0,
    now: Date.now,
    describe: () => ({}),
    answer: async ({ operation }) =>
      operation === "GetSecretValue"
        ? okReply({ ARN, SecretString: current })
        : errorReply(400, "InvalidRequestException", `${operation} is not here.`),
  });
  onTestFinished(() => server.stop());
  return {
    /** What the worker needs to find it, in place of a key of its own. */
    env: {
      STRIPE_API_KEY: "",
      STRIPE_SECRET_ARN: ARN,
      AWS_ENDPOINT_URL_SECRETS_MANAGER: server.url,
    },
    put: (next: string) => void (current = next),
    reads: () => server.requests().length,
  };
}
