// What each part around the worker costs: its requests for one outcome, and the prices of those.

import { slowestMs } from "../../lib/timing/latency.ts";
import { STRIPE_EVENT_TIMINGS } from "../../lib/timing/queue.ts";
import { clamp, cpuMs, logsCost, RECORD_LIFE_MONTHS, TABLE_CALL_MS } from "./plan.ts";
import type { Load } from "./plan.ts";
import { PRICES } from "./prices.ts";

/** One outcome's, or one event's. */
type Requests = {
  invocations: number;
  /** Duration of an invocation, in ms. */
  ms: number;
  /** Of the log, in bytes. */
  logged: number;
  memoryMb?: number;
  writeUnits?: number;
  readUnits?: number;
  sqs?: number;
  busEvents?: number;
  http?: number;
};

export type Part = {
  name: string;
  /** What a million of it is. */
  million: string;
  requests: Requests;
  /** Dollars per million. */
  cost: number;
};

const MEMORY_MB = 512;
const WAITING_MB = 256; // of a function that mostly waits for Stripe
const EVENT_BYTES = 700;
// Lambda looks into each shard of a stream four times per second.
// https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html
const STREAM_POLLS_PER_SECOND = 4;
const STREAM_BATCH = 100;

// A read of one PaymentIntent.
const STRIPE_READ_MS = slowestMs(
  { medianMs: STRIPE_EVENT_TIMINGS.apiLatencyMs, p99Ms: STRIPE_EVENT_TIMINGS.apiLatencyP99Ms },
  1,
);

const cpu = (messages: number, memoryMb = MEMORY_MB) => cpuMs(messages, memoryMb);

/** The parts at this load. Queues are taken to be read message by message, as they are at a low rate. */
export function partsFor({ rate }: Load): Part[] {
  const perBatch = clamp(rate / STREAM_POLLS_PER_SECOND, 1, STREAM_BATCH);
  const fromQueue = { invocations: 1, sqs: 3 }; // sent, received, deleted
  const all: Omit<Part, "cost">[] = [
    {
      name: "payment-api",
      million: "payments, with one GET each",
      requests: {
        invocations: 2,
        ms: 1.5 * TABLE_CALL_MS + cpu(1), // a claim and a send; a read
        logged: 2 * 360,
        writeUnits: 2, // its claim, and the worker's put that fails before it takes over
        readUnits: 1,
        http: 2,
      },
    },
    {
      name: "outcome-publisher",
      million: "outcomes",
      requests: {
        invocations: 1 / perBatch,
        ms: Math.ceil(perBatch / 10) * TABLE_CALL_MS + cpu(perBatch),
        logged: 460,
        busEvents: 1,
      },
    },
    {
      name: "order-fulfillment",
      million: "outcomes",
      requests: {
        ...fromQueue,
        ms: 2 * TABLE_CALL_MS + cpu(1),
        logged: 570,
        writeUnits: 12, // six items, each prepared and committed
        readUnits: 1,
      },
    },
    {
      name: "stripe-webhook",
      million: "events of Stripe's",
      requests: { invocations: 1, ms: TABLE_CALL_MS + cpu(1), logged: 470 }, // its send is the queue's
    },
    {
      name: "payment-finalizer",
      million: "events of Stripe's",
      requests: {
        ...fromQueue,
        ms: STRIPE_READ_MS + TABLE_CALL_MS + cpu(1, WAITING_MB),
        memoryMb: WAITING_MB,
        logged: 690,
        writeUnits: 1,
      },
    },
  ];
  return all.map((part) => ({ ...part, cost: costOf(part.requests) }));
}

function costOf(requests: Requests): number {
  const { invocations, ms, logged, memoryMb = MEMORY_MB } = requests;
  const { writeUnits = 0, readUnits = 0, sqs = 0, busEvents = 0, http = 0 } = requests;
  const archivedGb = (busEvents * EVENT_BYTES) / 1_000; // of a million
  return (
    invocations * PRICES.lambdaMillionRequests +
    1_000 * invocations * ms * (memoryMb / 1_024) * PRICES.lambdaGbSecond +
    writeUnits * PRICES.dynamoDbMillionWriteUnits +
    readUnits * PRICES.dynamoDbMillionReadUnits +
    sqs * PRICES.sqsMillionRequests +
    busEvents * PRICES.busMillionEvents +
    archivedGb * (PRICES.archiveGb + RECORD_LIFE_MONTHS * PRICES.archiveGbMonth) +
    http * PRICES.httpApiMillionRequests +
    logsCost(logged)
  );
}
