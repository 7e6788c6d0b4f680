// Powertools with the SDK's own client, warmed up.

import { DynamoDBClient } from "@aws-sdk/client-dynamodb";

import { warmedUp } from "./powertools-warm-up.ts";

const made = warmedUp(
  (httpsAgent, endpoint) =>
    new DynamoDBClient({ requestHandler: { httpsAgent }, ...(endpoint && { endpoint }) }),
);

export const handler = made.handler;
export const warmUp = made.warmUp;
