// The publisher's and the finalizer's execution environments: the real handlers, as environment.ts
// has the worker's.

import type { DynamoDBRecord, DynamoDBStreamEvent, SQSEvent, SQSRecord } from "aws-lambda";

import { typedItem } from "../../local/table/attribute-value.ts";
import { eventBody } from "../models/stripe-events.ts";
import type { Worker } from "../seeded-bugs/load-worker.ts";
import { createClients } from "./clients.ts";
import { JITTER } from "./environment.ts";
import type { ExecutionEnvironment, OnLine } from "./environment.ts";
import { TIMINGS } from "./timings.ts";
import type { Invocation, World } from "./world.ts";

const SOURCE = "urn:payment-worker:simulation";

export function createFinalizerEnvironment(worker: Worker, onLine: OnLine): ExecutionEnvironment {
  let world: World;
  let invocation: Invocation;
  const { table, queue, bus } = createClients(() => ({ world, invocation }));
  const handler = worker.createFinalizerHandler({
    payments: worker.stripePayments(worker.fixedKey("rk_test_simulation", "test")),
    records: worker.recordedOutcomes(table, "records"),
    bus: worker.eventBus(bus, "payments"),
    source: SOURCE,
    mode: "test",
    queue: { client: queue, url: "https://queue.test/stripe-events" },
    functionName: "payment-finalizer",
    timings: TIMINGS,
    now: () => world.now,
    random: () => JITTER[world.vary(JITTER.length)] ?? 0,
    write: (line) => onLine(world, invocation, line),
  });
  return {
    invoke(inWorld, nextInvocation) {
      world = inWorld;
      invocation = nextInvocation;
      const { events = [], deadline, name } = nextInvocation;
      const Records = events.map(({ message, receipt }) => ({
        messageId: message.sqsMessageId,
        receiptHandle: receipt,
        body: eventBody(message.sent),
        attributes: { ApproximateReceiveCount: String(message.receiveCount) },
      })) as SQSRecord[];
      const event: SQSEvent = { Records };
      const getRemainingTimeInMillis = () => deadline - inWorld.now;
      return handler(event, { awsRequestId: name, getRemainingTimeInMillis });
    },
  };
}

export function createPublisherEnvironment(worker: Worker, onLine: OnLine): ExecutionEnvironment {
  let world: World;
  let invocation: Invocation;
  const { bus } = createClients(() => ({ world, invocation }));
  const handler = worker.createOutcomePublisher({
    bus: worker.eventBus(bus, "payments"),
    source: SOURCE,
    functionName: "outcome-publisher",
    callTimeoutMs: TIMINGS.callTimeoutMs,
    now: () => world.now,
    write: (line) => onLine(world, invocation, line),
  });
  return {
    async invoke(inWorld, nextInvocation) {
      world = inWorld;
      invocation = nextInvocation;
      const { changesFrom = 0 } = nextInvocation;
      const Records = (nextInvocation.changes ?? []).map(
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
      const event: DynamoDBStreamEvent = { Records };
      const { batchItemFailures } = await handler(event, { awsRequestId: nextInvocation.name });
      return {
        batchItemFailures: batchItemFailures.map(({ itemIdentifier }) => ({
          itemIdentifier: itemIdentifier ?? "",
        })),
      };
    },
  };
}
