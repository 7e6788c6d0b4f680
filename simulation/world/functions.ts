// The real handlers, composed as functions/ composes them, and their events.

import type { APIGatewayProxyEventV2, DynamoDBRecord, SQSRecord } from "aws-lambda";

import type { SqsHandler } from "../../lib/sqs/handler.ts";
import { typedItem } from "../../local/table/attribute-value.ts";
import type { Worker } from "../seeded-bugs/load-worker.ts";
import type { Clients, Current } from "./clients.ts";
import { consumerOf } from "./consumers.ts";
import type { Invocation, Role } from "./invocation.ts";
import { paymentIn } from "./scenario.ts";
import { TIMINGS } from "./timings.ts";
import { hasWrongKey } from "./world.ts";

const SOURCE = "urn:payment-worker:simulation";

/** What a handler is made of, beside its code. */
type Surroundings = {
  clients: Clients;
  current: () => Current;
  /** By the environment's clock. */
  now: () => number;
  random: () => number;
  write: (line: Record<string, unknown>) => void;
};

type Run = (current: Current) => Promise<readonly string[]>;
type Compose = (worker: Worker, surroundings: Surroundings) => Run;

export const FUNCTIONS: Readonly<Record<Role, Compose>> = {
  worker(worker, { clients, current, ...surroundings }) {
    const right = worker.fixedKey("rk_test_simulation", "test");
    const wrong = worker.fixedKey("rk_live_simulation", "test");
    const handler = worker.createPaymentHandler({
      records: worker.recordsTable(clients.table, "records"),
      charges: worker.stripeCharges({
        get: () => (hasWrongKey(current().world) ? wrong : right).get(),
        drop: () => {},
      }),
      timings: TIMINGS,
      queue: { client: clients.queue, url: "https://queue.test/payments" },
      functionName: "payment-worker",
      newOwner: ownersOf(current),
      ...surroundings,
    });
    return (running) => fed(handler, running);
  },

  finalizer(worker, { clients, ...surroundings }) {
    const handler = worker.createFinalizerHandler({
      payments: worker.stripePayments(worker.fixedKey("rk_test_simulation", "test")),
      records: worker.recordedOutcomes(clients.table, "records"),
      bus: worker.eventBus(clients.bus, "payments"),
      source: SOURCE,
      mode: "test",
      queue: { client: clients.queue, url: "https://queue.test/stripe-events" },
      functionName: "payment-finalizer",
      timings: TIMINGS,
      ...surroundings,
    });
    return (running) => fed(handler, running);
  },

  publisher(worker, { clients, ...surroundings }) {
    const handler = worker.createOutcomePublisher({
      bus: worker.eventBus(clients.bus, "payments"),
      source: SOURCE,
      functionName: "outcome-publisher",
      callTimeoutMs: TIMINGS.callTimeoutMs,
      ...surroundings,
    });
    return async ({ invocation }) => {
      const event = { Records: streamRecords(invocation) };
      const { batchItemFailures } = await handler(event, { awsRequestId: invocation.name });
      return batchItemFailures.map(({ itemIdentifier }) => itemIdentifier ?? "");
    };
  },

  fulfillment(worker, { clients, ...surroundings }) {
    const { callTimeoutMs, recordTtlMs } = TIMINGS;
    const handler = worker.createFulfillmentHandler({
      orders: worker.ordersTable(clients.orders, "orders", {
        eventTtlMs: recordTtlMs,
        timeoutMs: callTimeoutMs,
        now: surroundings.now,
      }),
      queue: { client: clients.queue, url: "https://queue.test/outcomes" },
      functionName: "order-fulfillment",
      timings: TIMINGS,
      ...surroundings,
    });
    return (running) => fed(handler, running);
  },

  door(worker, { clients, current, ...surroundings }) {
    const { callTimeoutMs } = TIMINGS;
    const records = worker.recordsTable(clients.table, "records");
    const handler = worker.createApiHandler({
      claim: (record) => records.claim(record, callTimeoutMs),
      send: worker.messageSender(clients.queue, "https://queue.test/payments", callTimeoutMs),
      read: () => Promise.reject(new Error("Bug! Nobody asks for a status.")),
      limits: TIMINGS,
      functionName: "payment-api",
      newOwner: ownersOf(current),
      ...surroundings,
    });
    return async ({ invocation }) => {
      invocation.response = await handler(requestOf(invocation));
      return [];
    };
  },
};

/** Owners of records, named after what their invocation received. */
function ownersOf(current: Surroundings["current"]): () => string {
  let of: Invocation | undefined;
  let made = 0;
  return () => {
    const { world, invocation } = current();
    made = of === invocation ? made + 1 : 1;
    of = invocation;
    const owner = `${invocation.key}/${made}`;
    world.owners.set(owner, invocation);
    return owner;
  };
}

/** As API Gateway hands it over; a message id with a slash is a caller and its key. */
function requestOf({ name, request }: Invocation): APIGatewayProxyEventV2 {
  if (!request) throw new Error("Bug! The door has no request.");
  const [key, sub] = request.messageId.split("/").toReversed();
  return {
    rawPath: "/payments",
    headers: { "idempotency-key": key, "content-type": "application/json" },
    body: paymentIn(request),
    isBase64Encoded: false,
    requestContext: {
      requestId: name,
      http: { method: "POST" },
      ...(sub !== undefined && { authorizer: { jwt: { claims: { sub } } } }),
    },
  } as unknown as APIGatewayProxyEventV2;
}

/** Runs the handler of a queue. */
async function fed(handler: SqsHandler, { world, invocation }: Current): Promise<string[]> {
  const { deliveries, deadline, name, role } = invocation;
  const { body } = consumerOf(role);
  const Records = deliveries.map(({ message, receipt }) => ({
    messageId: message.sqsMessageId,
    receiptHandle: receipt,
    body: body(message.sent),
    attributes: { ApproximateReceiveCount: String(message.receiveCount) },
  })) as SQSRecord[];
  const { batchItemFailures } = await handler(
    { Records },
    { awsRequestId: name, getRemainingTimeInMillis: () => deadline - world.now },
  );
  return batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
}

function streamRecords({ changes = [], changesFrom = 0 }: Invocation): DynamoDBRecord[] {
  return changes.map(
    ({ before, after }, i) =>
      ({
        eventName: before ? (after ? "MODIFY" : "REMOVE") : "INSERT",
        dynamodb: {
          SequenceNumber: String(changesFrom + i + 1),
          ...(before && { OldImage: typedItem(before) }),
          ...(after && { NewImage: typedItem(after) }),
        },
      }) as DynamoDBRecord,
  );
}
