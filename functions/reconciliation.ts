// The reconciliation: every hour, do the records and Stripe agree, and what has been open for long?

import { createDynamoDb, createSecretsManager } from "../lib/aws/clients.ts";
import { recordReader } from "../lib/aws/read-record.ts";
import { recordedOutcomes } from "../lib/aws/recorded-outcomes.ts";
import { reportBucket } from "../lib/aws/report-bucket.ts";
import { createS3 } from "../lib/aws/s3-client.ts";
import { recordScanner } from "../lib/aws/scan-records.ts";
import type { LogLine } from "../lib/lambda/emf.ts";
import { readReconciliationEnvironment } from "../lib/lambda/environment.ts";
import { createReconciliation } from "../lib/lambda/reconciliation-handler.ts";
import { readCredentials, readDynamoDbEndpoint } from "../lib/lambda/variables.ts";
import { finalize } from "../lib/payments/finalize.ts";
import { fixedKey, secretKeys } from "../lib/stripe/api-key.ts";
import { paymentLister } from "../lib/stripe/list-payments.ts";
import { createPace } from "../lib/stripe/pace.ts";
import { stripePayments } from "../lib/stripe/payments.ts";

const environment = readReconciliationEnvironment(process.env);
const { recordsTable, timings, stripeKey, stripeMode, stripeBase, functionName } = environment;
const { callTimeoutMs, stripeTimeoutMs } = timings;
const aws = { credentials: readCredentials(process.env), callTimeoutMs };
const now = Date.now;
// A tenth of Stripe's limit: https://docs.stripe.com/rate-limits
const pace = createPace(10);

const keys =
  "key" in stripeKey
    ? fixedKey(stripeKey.key, stripeMode)
    : secretKeys(createSecretsManager(aws), stripeKey.secretArn, callTimeoutMs, now, stripeMode);
const dynamoDb = createDynamoDb({ ...aws, endpoint: readDynamoDbEndpoint(process.env) });
const payments = stripePayments(keys, stripeBase);
const records = recordedOutcomes(dynamoDb, recordsTable);

export const handler = createReconciliation({
  books: {
    ...paymentLister(keys, { timeoutMs: stripeTimeoutMs, pace, base: stripeBase }),
    records: recordScanner(dynamoDb, recordsTable, callTimeoutMs),
    record: recordReader(dynamoDb, recordsTable, callTimeoutMs),
    async finalize(paymentIntentId) {
      const retrieved = await pace(() => payments.retrieve(paymentIntentId, stripeTimeoutMs));
      if (!("found" in retrieved)) return { decision: "unavailable" };
      return finalize(retrieved.found, records, now(), callTimeoutMs);
    },
  },
  reports: reportBucket(createS3(aws), environment.reportBucket, callTimeoutMs),
  functionName,
  now,
  write: (line: LogLine) => void process.stdout.write(`${JSON.stringify(line)}\n`),
});
