// Powertools around a charge, composed as its documentation does: idempotency around each record of a
// batch, structured logs, metrics, and zod for the message.
// https://docs.aws.amazon.com/powertools/typescript/latest/features/idempotency/#batch-integration
// https://docs.aws.amazon.com/powertools/typescript/latest/features/metrics/
// https://docs.aws.amazon.com/powertools/typescript/latest/features/logger/

import { BatchProcessor, EventType, processPartialResponse } from "@aws-lambda-powertools/batch";
import { IdempotencyConfig, makeIdempotent } from "@aws-lambda-powertools/idempotency";
import { DynamoDBPersistenceLayer } from "@aws-lambda-powertools/idempotency/dynamodb";
import { Logger } from "@aws-lambda-powertools/logger";
import { Metrics, MetricUnit } from "@aws-lambda-powertools/metrics";
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import { Stripe } from "stripe";
// Powertools' own documentation imports { z }, which keeps esbuild from leaving out zod's other half.
import * as z from "zod";

const Payment = z.strictObject({
  id: z.string().regex(/^[\x21-\x7e]{1,255}$/),
  createdAt: z.iso.datetime({ offset: true }),
  amount: z.int().min(1).max(99_999_999),
  currency: z.string().length(3).toLowerCase(),
  customer: z.string().startsWith("cus_"),
  paymentMethod: z.string().startsWith("pm_"),
});
type Payment = z.infer<typeof Payment>;

export type Services = {
  /** Powertools makes one when there is none. */
  awsSdkV3Client?: DynamoDBClient;
  stripe?: Stripe;
  namespace?: string;
};

export function createHandler({
  awsSdkV3Client,
  stripe = createStripe(process.env["STRIPE_API_BASE"]),
  namespace = "PaymentWorker",
}: Services = {}) {
  const logger = new Logger({ serviceName: "payment-worker" });
  const metrics = new Metrics({ namespace, serviceName: "payment-worker" });
  const processor = new BatchProcessor(EventType.SQS);
  const persistenceStore = new DynamoDBPersistenceLayer({
    tableName: process.env["RECORDS_TABLE"] ?? "",
    keyAttr: "messageId",
    ...(awsSdkV3Client && { awsSdkV3Client }),
  });
  const config = new IdempotencyConfig({
    eventKeyJmesPath: "id",
    throwOnNoIdempotencyKey: true,
    expiresAfterSeconds: 35 * 24 * 60 * 60,
  });

  const charge = makeIdempotent(
    async (payment: Payment) => {
      const intent = await stripe.paymentIntents.create(
        {
          amount: payment.amount,
          currency: payment.currency,
          customer: payment.customer,
          payment_method: payment.paymentMethod,
          confirm: true,
          off_session: true,
          metadata: { message_id: payment.id },
        },
        { idempotencyKey: payment.id },
      );
      return { status: intent.status, paymentIntentId: intent.id };
    },
    { persistenceStore, config },
  );

  async function processRecord({ body }: SQSRecord): Promise<void> {
    const payment = Payment.parse(JSON.parse(body));
    const outcome = await charge(payment);
    logger.info("charged", { messageId: payment.id, ...outcome });
    metrics.addMetric("Succeeded", MetricUnit.Count, 1);
  }

  return async (event: SQSEvent, context: Context): Promise<SQSBatchResponse> => {
    logger.addContext(context);
    config.registerLambdaContext(context);
    try {
      return await processPartialResponse(event, processRecord, processor, { context });
    } finally {
      metrics.publishStoredMetrics();
    }
  };
}

/** Where it finds the bench's Stripe, and whatever else is asked for; the rest is stripe-node's default. */
export function createStripe(
  address = "",
  options: ConstructorParameters<typeof Stripe>[1] = {},
): Stripe {
  const { protocol, hostname, port } = new URL(address);
  return new Stripe(process.env["STRIPE_API_KEY"] ?? "", {
    protocol: protocol === "https:" ? "https" : "http",
    host: hostname,
    port: Number(port),
    ...options,
  });
}
