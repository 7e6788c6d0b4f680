// A worker's execution environment: the real handler, with clients whose every request waits for the scheduler.

import { ChangeMessageVisibilityBatchCommand } from "@aws-sdk/client-sqs";
import type { SQSClient } from "@aws-sdk/client-sqs";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import type { SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";

import type { Request, Response } from "../models/stripe.ts";
import type { Worker } from "../seeded-bugs/load-worker.ts";
import { connectNextClient } from "./connection.ts";
import { bodyOf } from "./scenario.ts";
import { TIMINGS } from "./timings.ts";
import { hasWrongKey } from "./world.ts";
import type { Call, Invocation, Reply, World } from "./world.ts";

export type ExecutionEnvironment = {
  /** Runs the handler; never settles once its invocation is dead. */
  invoke: (world: World, invocation: Invocation) => Promise<SQSBatchResponse>;
};

/** The least, a middling and the most that a random number of the handler can be. */
const JITTER = [0, 0.5, 0.999];

type Line = { decision?: string; sqsMessageId?: string };

/** The handler's own virtual timeouts: what a client reads from its abort signal. */
type VirtualSignal = { timeoutMs: number };

/** One environment, used by one invocation at a time. `onLine` gets the handler's log lines. */
export function createEnvironment(
  worker: Worker,
  onLine: (world: World, invocation: Invocation, line: Line) => void,
): ExecutionEnvironment {
  let world: World;
  let invocation: Invocation;
  let owners = 0;

  const call = <T>(
    service: Call["service"],
    name: string,
    timeoutMs: number,
    receive: Call["receive"],
    about: Pick<Call, "request" | "record"> = {},
  ): Promise<T> =>
    new Promise((resolve, reject) => {
      world.calls.push({
        by: invocation,
        service,
        name,
        state: "sent",
        timesOutAt: world.now + timeoutMs,
        waiting: true,
        receive,
        finishBy: Infinity,
        ...about,
        resolve: (reply) => {
          if ("error" in reply) reject(reply.error);
          else resolve(reply.value as T);
        },
      });
    });

  const table = {
    send(command: object, { abortSignal }: { abortSignal: VirtualSignal }) {
      const apply = attempting(() => world.table.apply(command));
      const record = recordIn(command);
      return call("table", tableCallName(command), abortSignal.timeoutMs, () => apply, { record });
    },
  };

  const queue = {
    send(command: object, { abortSignal }: { abortSignal: VirtualSignal }) {
      if (!(command instanceof ChangeMessageVisibilityBatchCommand)) {
        throw new Error(`The queue's model does not know ${command.constructor.name}.`);
      }
      const entries = command.input.Entries ?? [];
      const apply = attempting(() => {
        const failed = entries.filter(
          ({ ReceiptHandle = "", VisibilityTimeout = 0 }) =>
            !world.queue.setVisibility(ReceiptHandle, VisibilityTimeout),
        );
        return { Failed: failed.map(({ Id }) => ({ Id, Code: "ReceiptHandleIsInvalid" })) };
      });
      return call("queue", "set visibility", abortSignal.timeoutMs, () => apply);
    },
  };

  connectNextClient((request: Request, timeoutMs: number): Promise<Response> => {
    const name = request.method === "GET" ? "look up" : "charge";
    const receive = () => attempting(world.stripe.receive(request));
    return call("stripe", name, timeoutMs, receive, { request });
  });

  const right = worker.fixedKey("rk_test_simulation", "test");
  const wrong = worker.fixedKey("rk_live_simulation", "test");
  const handler = worker.createPaymentHandler({
    records: worker.recordsTable(table as unknown as DynamoDBDocumentClient, "records"),
    charges: worker.stripeCharges({
      get: () => (hasWrongKey(world) ? wrong : right).get(),
      drop: () => {},
    }),
    timings: TIMINGS,
    queue: { client: queue as unknown as SQSClient, url: "https://queue.test/payments" },
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

function attempting(run: () => unknown): () => Reply {
  return () => {
    try {
      return { value: run() };
    } catch (error) {
      if (error instanceof Error && error.name === "ConditionalCheckFailedException")
        return { error };
      throw error;
    }
  };
}

function recordIn(command: object): string {
  const { Key, Item } = (command as { input: Record<string, Record<string, unknown>> }).input;
  return String((Key ?? Item)?.["messageId"]);
}

function tableCallName(command: object): string {
  const { input } = command as { input: { UpdateExpression?: string } };
  const update = input.UpdateExpression;
  if (update === undefined) return command.constructor.name.replace("Command", "").toLowerCase();
  if (update.includes("#owner =")) return "take over";
  return update.includes("#status =") ? "complete" : "release";
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
