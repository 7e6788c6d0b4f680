// A worker's execution environment: the real handler, with clients whose every request waits for the scheduler.

import type { SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";

import type { Worker } from "../seeded-bugs/load-worker.ts";
import { createClients } from "./clients.ts";
import { bodyOf } from "./scenario.ts";
import { TIMINGS } from "./timings.ts";
import { hasWrongKey } from "./world.ts";
import type { Invocation, World } from "./world.ts";

export type ExecutionEnvironment = {
  /** Runs the handler; never settles once its invocation is dead. */
  invoke: (world: World, invocation: Invocation) => Promise<SQSBatchResponse>;
};

/** The least, a middling and the most that a random number of the handler can be. */
export const JITTER = [0, 0.5, 0.999];

/** Gets a handler's log lines. */
export type OnLine = (world: World, invocation: Invocation, line: Record<string, unknown>) => void;

/** One environment, used by one invocation at a time. */
export function createEnvironment(worker: Worker, onLine: OnLine): ExecutionEnvironment {
  let world: World;
  let invocation: Invocation;
  let owners = 0;

  const { table, queue } = createClients(() => ({ world, invocation }));
  const right = worker.fixedKey("rk_test_simulation", "test");
  const wrong = worker.fixedKey("rk_live_simulation", "test");
  const handler = worker.createPaymentHandler({
    records: worker.recordsTable(table, "records"),
    charges: worker.stripeCharges({
      get: () => (hasWrongKey(world) ? wrong : right).get(),
      drop: () => {},
    }),
    timings: TIMINGS,
    queue: { client: queue, url: "https://queue.test/payments" },
    functionName: "payment-worker",
    now: () => world.now + (world.scenario.clocks[invocation.slot] ?? 0),
    random: () => JITTER[world.vary(JITTER.length)] ?? 0,
    newOwner() {
      const owner = `${invocation.key}/${++owners}`;
      world.owners.set(owner, invocation);
      return owner;
    },
    write: (line) => onLine(world, invocation, line),
  });

  return {
    invoke(inWorld, nextInvocation) {
      world = inWorld;
      invocation = nextInvocation;
      owners = 0;
      const { deliveries, deadline } = nextInvocation;
      const Records = deliveries.map(({ message, receipt }) => ({
        messageId: message.sqsMessageId,
        receiptHandle: receipt,
        body: bodyOf(message.sent),
        attributes: { ApproximateReceiveCount: String(message.receiveCount) },
      })) as SQSRecord[];
      const event: SQSEvent = { Records };
      return handler(event, {
        awsRequestId: nextInvocation.name,
        getRemainingTimeInMillis: () => deadline - inWorld.now,
      });
    },
  };
}

/** Gives this thread a virtual `AbortSignal.timeout` and `performance.now`, in ms. */
export function virtualTimers(now: () => number): void {
  AbortSignal.timeout = (timeoutMs: number) => {
    if (!Number.isInteger(timeoutMs) || timeoutMs < 0) {
      throw new RangeError(`AbortSignal.timeout(${timeoutMs}): not an integer of ms.`);
    }
    return { timeoutMs } as unknown as AbortSignal;
  };
  performance.now = now;
}
