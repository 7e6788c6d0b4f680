// The payment worker: reads its environment once, composes, and exports the handler and the warm-up.

import { randomUUID } from "node:crypto";

import { createDynamoDb, createSecretsManager, createSqs, endpointOf } from "../lib/aws/clients.ts";
import { recordsTable } from "../lib/aws/records-table.ts";
import type { LogLine } from "../lib/lambda/emf.ts";
import { readEnvironment } from "../lib/lambda/environment.ts";
import { createPaymentHandler } from "../lib/lambda/payment-handler.ts";
import type { PaymentHandlerDeps } from "../lib/lambda/payment-handler.ts";
import { warmUpPayments } from "../lib/lambda/payment-warm-up.ts";
import { readCredentials, readDynamoDbEndpoint } from "../lib/lambda/variables.ts";
import { createWarmUp } from "../lib/lambda/warm-up.ts";
import { httpsConnections } from "../lib/net/connections.ts";
import { fixedKey, secretKeys } from "../lib/stripe/api-key.ts";
import { stripeCharges } from "../lib/stripe/charges.ts";

const environment = readEnvironment(process.env);
const { timings, stripeKey, stripeMode, stripeBase, functionName } = environment;
const { callTimeoutMs } = timings;
const now = Date.now;

const connections = httpsConnections(now);
const httpsAgent = connections.agent;
const aws = { credentials: readCredentials(process.env), callTimeoutMs };
const dynamoDb = createDynamoDb({
  ...aws,
  httpsAgent,
  endpoint: readDynamoDbEndpoint(process.env),
});
const keys =
  "key" in stripeKey
    ? fixedKey(stripeKey.key, stripeMode)
    : secretKeys(createSecretsManager(aws), stripeKey.secretArn, callTimeoutMs, now, stripeMode);

function compose(services: Pick<PaymentHandlerDeps, "records" | "charges" | "queue" | "write">) {
  return createPaymentHandler({
    ...services,
    functionName,
    timings,
    now,
    random: Math.random,
    newOwner: randomUUID,
  });
}

// Straight to stdout: the console would wrap the line, and its metrics would not be found.
const write = (line: LogLine) => void process.stdout.write(`${JSON.stringify(line)}\n`);

export const handler = compose({
  records: recordsTable(dynamoDb, environment.recordsTable),
  charges: stripeCharges(keys, stripeBase, httpsAgent),
  queue: { client: createSqs({ ...aws, httpsAgent }), url: environment.queueUrl },
  write,
});

const connect = (address: URL, timeoutMs: number) =>
  connections.open(address, Math.min(environment.batchSize, 10), timeoutMs);

export const warmUp = createWarmUp(
  environment.memoryMb,
  {
    ...warmUpPayments(now()),
    compose: (stub) =>
      compose({
        records: recordsTable(
          createDynamoDb({ ...aws, endpoint: stub.href }),
          environment.recordsTable,
        ),
        charges: stripeCharges(fixedKey("sk_test_warmup"), stub),
        queue: { client: createSqs({ ...aws, endpoint: stub.href }), url: environment.queueUrl },
        write: (line) => void JSON.stringify(line),
      }),
  },
  [
    () => keys.get(),
    (timeoutMs) => connect(stripeBase, timeoutMs),
    async (timeoutMs) => connect(await endpointOf(dynamoDb), timeoutMs),
  ],
  write,
);
