// The servers of a stack, each publishing what it sees.
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";

import { startBus } from "./bus/server.ts";
import type { BusServer } from "./bus/server.ts";
import { startObjects } from "./objects/server.ts";
import type { ObjectServer } from "./objects/server.ts";
import { startQueue } from "./queue/server.ts";
import type { QueueServer } from "./queue/server.ts";
import type { StackEvent } from "./stack-event.ts";
import { startStripe } from "./stripe/server.ts";
import type { StripeServer } from "./stripe/server.ts";
import { plainItem } from "./table/attribute-value.ts";
import { startTable } from "./table/server.ts";
import type { TableServer } from "./table/server.ts";

export type Servers = {
  tableName: string;
  table: TableServer;
  queue: QueueServer;
  stripe: StripeServer;
  /** With a bus for outcome events, and one for Stripe's own. */
  bus: BusServer;
  /** The bucket of the reconciliation's reports. */
  objects: ObjectServer;
};

export type ServerOptions = {
  /** 0 or absent for any free port. */
  ports?: { table?: number; queue?: number; stripe?: number; bus?: number };
  /** The clock of the table and of Stripe, ms; the functions' and the queue's is the machine's. */
  now?: () => number;
  /** Stripe's API keys; absent: any test key is one. */
  stripeKeys?: readonly string[];
};

const TABLE_NAME = "payment-records";
export const ORDERS_TABLE = "orders";
export const REPORT_BUCKET = "reconciliation";
export const OUTCOME_BUS = "payment-outcomes";
const STRIPE_BUS = "aws.partner/stripe.com/ed_local";

/**
 * Starts them with an empty table and without a queue.
 *
 * @param started gets what stops each, as soon as it has started
 * @throws Error when a port is taken
 */
export async function startServers(
  { ports = {}, now = Date.now, stripeKeys }: ServerOptions,
  publish: (event: StackEvent) => void,
  started: (stop: () => Promise<void>) => void,
): Promise<Servers> {
  const stripe = await startStripe({
    port: ports.stripe ?? 0,
    now,
    keys: stripeKeys,
    onEnd: ({ status, ...request }) =>
      publish({ type: "Stripe request", ...request, result: String(status ?? "dropped") }),
    onCharge: (charge) =>
      publish({
        type: "charged",
        ...charge,
        nth: stripe.ledger.countsFor(charge.messageId ?? "").charges,
      }),
    onSending: ({ type, ...sending }) =>
      publish({ ...sending, type: "webhook sent", eventType: type }),
  });
  started(() => stripe.stop());
  const table = await startTable({
    port: ports.table ?? 0,
    now,
    onEnd: ({ operation, messageId, result }) =>
      publish({ type: "table request", operation, messageId, result }),
  });
  started(() => table.stop());
  const queue = await startQueue({ port: ports.queue ?? 0, publish });
  started(() => queue.stop());

  const sqs = new SQSClient({
    endpoint: queue.url,
    region: "us-east-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
  });
  const bus = await startBus({
    port: ports.bus ?? 0,
    now,
    send: async (QueueUrl, MessageBody) =>
      void (await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody }))),
    onEvent: ({ id, detail, ...event }) =>
      publish({ type: "event published", busId: id, detailType: event["detail-type"], detail }),
  });
  started(async () => {
    await bus.stop();
    sqs.destroy();
  });
  const objects = await startObjects();
  started(() => objects.stop());
  bus.bus.createBus(OUTCOME_BUS);
  bus.bus.createBus(STRIPE_BUS);

  await table.createRecordsTable(TABLE_NAME);
  table.createTable(ORDERS_TABLE, "pk", "expiresAt");
  table.changes(TABLE_NAME).subscribe(({ dynamodb: { OldImage, NewImage } }) =>
    publish({
      type: "record changed",
      before: OldImage && plainItem(OldImage),
      after: NewImage && plainItem(NewImage),
    }),
  );
  table.changes(ORDERS_TABLE).subscribe(({ eventName, dynamodb: { NewImage } }) => {
    if (eventName === "INSERT" && NewImage) {
      publish({ type: "order added", item: plainItem(NewImage) });
    }
  });
  return { tableName: TABLE_NAME, table, queue, stripe, bus, objects };
}
