// The payment worker: reads its environment once, composes, and exports the handler, and what Lambda
// does before the first batch.

import { randomUUID } from "node:crypto";

import { addressOf, dynamoDb, secretsManager, sqs } from "../lib/aws/clients.ts";
import { recordsTable } from "../lib/aws/records-table.ts";
import { httpsConnections } from "../lib/lambda/connections.ts";
import { readEnvironment } from "../lib/lambda/environment.ts";
import { rehearse } from "../lib/lambda/warm-up.ts";
import { sqsHandler } from "../lib/sqs/handler.ts";
import { fixedKey, secretKeys } from "../lib/stripe/api-key.ts";
import { stripeCharges } from "../lib/stripe/charges.ts";

const environment = readEnvironment(process.env);
const { timings, stripeKey, stripeBase } = environment;
const now = Date.now;
const connections = httpsConnections(now);
const httpsAgent = connections.agent;
const table = dynamoDb(timings, { httpsAgent });

const keys =
  "key" in stripeKey
    ? fixedKey(stripeKey.key)
    : secretKeys(secretsManager(timings), stripeKey.secretArn, timings.callTimeoutMs, now);

// Straight to stdout: the console would wrap the line, and its metrics would not be found.
const write = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);

/** `elsewhere` takes the place of DynamoDB, SQS and Stripe. */
function compose(elsewhere?: URL) {
  const endpoint = elsewhere?.href;
  return sqsHandler({
    records: recordsTable(
      elsewhere ? dynamoDb(timings, { endpoint }) : table,
      environment.recordsTable,
    ),
    charges: elsewhere
      ? stripeCharges(fixedKey("sk_test_rehearsal"), elsewhere)
      : stripeCharges(keys, stripeBase, httpsAgent),
    queue: { client: sqs(timings, { endpoint, httpsAgent }), url: environment.queueUrl },
    functionName: environment.functionName,
    timings,
    now,
    random: Math.random,
    newOwner: randomUUID,
    write: elsewhere ? (line) => void JSON.stringify(line) : write,
  });
}

export const handler = compose();

const WARM_UP_MS = 3_000;

/** Opens a connection for each message of a batch, where TLS makes that worth it. */
async function connect(address: URL): Promise<void> {
  if (address.protocol !== "https:") return;
  await connections.open(address, Math.min(environment.batchSize, 10), WARM_UP_MS);
}

/** Makes the first batch faster, and cannot fail: what goes wrong here shows in the log. */
export async function warmUp(): Promise<void> {
  const results = await Promise.allSettled([
    keys.get(),
    connect(stripeBase),
    addressOf(table).then(connect),
    rehearse(compose, WARM_UP_MS),
  ]);
  for (const result of results) {
    if (result.status === "fulfilled") continue;
    const reason = result.reason instanceof Error ? result.reason.message : "unknown";
    write({ level: "WARN", message: `the first batch will be slower: ${reason}` });
  }
}
