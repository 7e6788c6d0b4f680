// The servers of a stack, each publishing what it sees.
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
};

export type ServerOptions = {
  /** 0 or absent for any free port. */
  ports?: { table?: number; queue?: number; stripe?: number };
  /** The clock of the table and of Stripe, ms; the functions' and the queue's is the machine's. */
  now?: () => number;
};

const TABLE_NAME = "payment-records";

/**
 * Starts them with an empty table and without a queue.
 *
 * @param started gets what stops each, as soon as it has started
 * @throws Error when a port is taken
 */
export async function startServers(
  { ports = {}, now = Date.now }: ServerOptions,
  publish: (event: StackEvent) => void,
  started: (stop: () => Promise<void>) => void,
): Promise<Servers> {
  const stripe = await startStripe({
    port: ports.stripe ?? 0,
    now,
    onEnd: ({ status, ...request }) =>
      publish({ type: "Stripe request", ...request, result: String(status ?? "dropped") }),
    onCharge: (charge) => publish({ type: "charged", ...charge }),
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

  await table.createRecordsTable(TABLE_NAME);
  table.changes(TABLE_NAME).subscribe(({ dynamodb: { OldImage, NewImage } }) =>
    publish({
      type: "record changed",
      before: OldImage && plainItem(OldImage),
      after: NewImage && plainItem(NewImage),
    }),
  );
  return { tableName: TABLE_NAME, table, queue, stripe };
}
