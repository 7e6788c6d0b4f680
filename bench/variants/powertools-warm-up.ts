// Powertools with the warm-up of the worker: connections that are opened, and a batch that is run, in
// init. It needs nothing but options that Powertools, the SDK and stripe-node have.

import type { Agent } from "node:https";

import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";

import { warmUpPayments } from "../../lib/lambda/payment-warm-up.ts";
import { createWarmUp } from "../../lib/lambda/warm-up.ts";
import { httpsConnections } from "../../lib/net/connections.ts";
import { createHandler, createStripe } from "./powertools-handler.ts";

const WARN = (line: object) => console.warn(JSON.stringify(line));

/** Both make what a client takes; the warm-up's stub has an endpoint of its own, and speaks no TLS. */
export function warmedUp(
  createClient: (httpsAgent: Agent, endpoint?: string) => DynamoDBClient,
  stripeOptions: (httpAgent?: Agent) => Parameters<typeof createStripe>[1] = (httpAgent) => ({
    ...(httpAgent && { httpAgent }),
  }),
) {
  const { agent, open } = httpsConnections(Date.now);
  const handler = createHandler({
    awsSdkV3Client: createClient(agent),
    stripe: createStripe(process.env["STRIPE_API_BASE"], stripeOptions(agent)),
  });
  const connect =
    (address = "") =>
    (timeoutMs: number) =>
      open(new URL(address), Number(process.env["BATCH_SIZE"]), timeoutMs);
  const warmUp = createWarmUp(
    Number(process.env["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"]),
    {
      ...warmUpPayments(Date.now()),
      compose: ({ href }) => {
        const onStub = createHandler({
          awsSdkV3Client: createClient(agent, href),
          stripe: createStripe(href, stripeOptions()),
          namespace: "WarmUp",
        });
        return (event, context) => onStub(event, context as Parameters<typeof onStub>[1]);
      },
    },
    [connect(process.env["AWS_ENDPOINT_URL_DYNAMODB"]), connect(process.env["STRIPE_API_BASE"])],
    WARN,
  );
  return { handler, warmUp };
}
