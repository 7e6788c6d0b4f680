// With a fake of the orders table: what each decision is in the log, and for SQS.

import { expect, test } from "vitest";

import type { LogLine } from "../../../lib/lambda/emf.ts";
import { createFulfillmentHandler } from "../../../lib/lambda/fulfillment-handler.ts";
import type { Canceled, Order, Orders } from "../../../lib/orders/fulfill.ts";
import { ORDER } from "../../support/orders.ts";
import { CONTEXT, sqsEvent, visibilityClient } from "../../support/sqs-event.ts";

const EVENT = {
  specversion: "1.0",
  id: "order-1:1",
  source: "urn:payment-worker:test",
  revision: 1,
  data: {
    messageId: "order-1",
    result: "succeeded",
    paymentIntentId: "pi_1",
    amount: 1250,
    currency: "eur",
  },
};

const UNPAID = { ...EVENT, data: { ...EVENT.data, result: "failed" } };

type Services = { order?: Order | undefined; canceled?: Canceled; apply?: Orders["apply"] };

async function handle(services: Services, ...details: unknown[]) {
  const { order, canceled } = { order: ORDER, ...services };
  const lines: LogLine[] = [];
  const { client, timeouts } = visibilityClient();
  const handler = createFulfillmentHandler({
    orders: { find: async () => order, apply: services.apply ?? (async () => canceled) },
    queue: { client, url: "http://queue" },
    functionName: "order-fulfillment",
    timings: { backoffBaseMs: 30_000, backoffCapMs: 900_000 },
    now: () => Date.parse("2026-11-30T12:00:00Z"),
    random: () => 0.5,
    write: (line) => lines.push(line),
  });
  const bodies = details.map((detail, i) => ({ name: `${i}`, body: JSON.stringify({ detail }) }));
  const { batchItemFailures } = await handler(sqsEvent(...bodies), CONTEXT);
  const disposition = batchItemFailures.length === 0 ? "acknowledged" : timeouts[0];
  // As they are written: what is undefined is left out.
  return { disposition, lines: JSON.parse(JSON.stringify(lines)) as LogLine[] };
}

const NONE = { code: "None" };
const failed = (item: object) => ({ code: "ConditionalCheckFailed", item: { ...item } });

const AT_WORK = { code: "TransactionConflict" };
const LATE = { canceled: [NONE, failed({ status: "paid" })] };
const ORPHAN = { canceled: [NONE, NONE, NONE, { code: "ConditionalCheckFailed" }] };
const throws = (cause: unknown) => ({ apply: () => Promise.reject(cause) });

test.each<[Services, detail: unknown, disposition: string | number, line: string, object]>([
  [{}, EVENT, "acknowledged", "INFO applied: the order is shipped", { Fulfilled: 1 }],
  [
    { canceled: [NONE, failed({ status: "paid", paymentIntentId: "pi_1" })] },
    EVENT,
    "acknowledged",
    "INFO duplicate: duplicate: the event was applied already",
    { Duplicate: 1 },
  ],
  [
    LATE,
    UNPAID,
    "acknowledged",
    "INFO superseded: an older event of an order that is paid",
    { Duplicate: 1 },
  ],
  [
    { canceled: [failed({ hash: "another" })] },
    EVENT,
    0,
    "ERROR conflict: conflict: another event with this id says something else",
    { Conflict: 1 },
  ],
  [
    { order: undefined },
    EVENT,
    0,
    "ERROR unknown_order: there is no order for this payment",
    { Conflict: 1 },
  ],
  [
    ORPHAN,
    EVENT,
    0,
    "ERROR bug: the table holds an effect without the record of its event",
    { code: "ConditionalCheckFailed", Conflict: 1 },
  ],
  ...(
    [
      [{ canceled: [AT_WORK] }, "TransactionConflict"],
      [throws(new TypeError("4242")), "TypeError"],
      [throws("4242"), "string"],
    ] as const
  ).map(([services, code]): [Services, unknown, number, string, object] => [
    { ...services },
    EVENT,
    23,
    "WARN transient: not applied yet",
    { code, TransientFailure: 1 },
  ]),
  [
    {},
    "hello",
    0,
    "ERROR invalid: the body is not an outcome event",
    { messageId: undefined, eventId: undefined, Invalid: 1 },
  ],
])("%j and an event: %j: %s, %s", async (services, detail, disposition, start, more) => {
  const handled = await handle(services, detail);

  expect(handled.disposition).toBe(disposition);
  const { level, decision, message, ...line } = handled.lines[0] ?? {};
  expect(`${String(level)} ${String(decision)}: ${String(message)}`).toBe(start);
  expect(line).toEqual({
    timestamp: "2026-11-30T12:00:00.000Z",
    messageId: "order-1",
    eventId: "order-1:1",
    receiveCount: 1,
    sqsMessageId: "sqs-0",
    requestId: "request-1",
    FunctionName: "order-fulfillment",
    _aws: expect.anything(),
    ...more,
  });
  expect(handled.lines).toHaveLength(1);
});

test("events of one order run one after another, and only what is the same in all runs once", async () => {
  const ran: string[] = [];
  let running = 0;
  const apply: Orders["apply"] = async (_effect, { source, id, amount }) => {
    running += 1;
    ran.push(`${source} ${id} ${amount} ${running}`);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    return undefined;
  };
  const second = { ...EVENT, id: "order-1:2" };
  const others = [
    { ...EVENT, source: "shop" },
    { ...EVENT, data: { ...EVENT.data, amount: 9 } },
  ];

  await handle({ apply }, EVENT, second, EVENT, ...others);

  expect(ran).toEqual([
    "urn:payment-worker:test order-1:1 1250 1",
    "urn:payment-worker:test order-1:2 1250 1",
    "shop order-1:1 1250 1",
    "urn:payment-worker:test order-1:1 9 1",
  ]);
});
