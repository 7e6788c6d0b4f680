// Powertools with all that makes the worker fast and is not the worker: its client for the table, its
// warm-up and, in the bundle, the parts of the SDKs that it leaves out.

import { createDynamoDb } from "../../lib/aws/clients.ts";
import { readCredentials } from "../../lib/lambda/variables.ts";
import { warmedUp } from "./powertools-warm-up.ts";

const credentials = readCredentials(process.env);
const made = warmedUp((httpsAgent, endpoint = process.env["AWS_ENDPOINT_URL_DYNAMODB"]) =>
  createDynamoDb({ credentials, callTimeoutMs: 5_000, httpsAgent, endpoint }),
);

export const handler = made.handler;
export const warmUp = made.warmUp;
