// Powertools with all that makes the worker fast and is not the worker: its clients for the table
// and for Stripe, its warm-up and, in the bundle, the parts of the SDKs that it leaves out.

import { createDynamoDb } from "../../lib/aws/clients.ts";
import { readCredentials } from "../../lib/lambda/variables.ts";
import { stripeHttpClient } from "../../lib/stripe/http-client.ts";
import { warmedUp } from "./powertools-warm-up.ts";

const credentials = readCredentials(process.env);
const made = warmedUp(
  (httpsAgent, endpoint = process.env["AWS_ENDPOINT_URL_DYNAMODB"]) =>
    createDynamoDb({ credentials, callTimeoutMs: 5_000, httpsAgent, endpoint }),
  (httpsAgent) => ({
    httpClient: stripeHttpClient(httpsAgent),
    maxNetworkRetries: 0,
    telemetry: false,
  }),
);

export const handler = made.handler;
export const warmUp = made.warmUp;
