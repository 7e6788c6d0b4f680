// The clients of a function in the simulation: every request waits for the scheduler.

import { PutEventsCommand } from "@aws-sdk/client-eventbridge";
import type { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import { ChangeMessageVisibilityBatchCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import type { SQSClient } from "@aws-sdk/client-sqs";
import { GetCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";

import type { Request, Response } from "../models/stripe.ts";
import { connectNextClient } from "./connection.ts";
import { consumerOf } from "./consumers.ts";
import type { Call, Invocation, Reply } from "./invocation.ts";
import { sendThroughDoor } from "./orders.ts";
import { ordersOf, outcomesOf } from "./world.ts";
import type { World } from "./world.ts";

let tokens = 0;

/** Whose requests the clients send: changed before each invocation. */
export type Current = { world: World; invocation: Invocation };

export type Clients = {
  table: DynamoDBDocumentClient;
  orders: DynamoDBDocumentClient;
  queue: SQSClient;
  bus: EventBridgeClient;
};

/** The clients of one execution environment; the next Stripe client that is made is of it too. */
export function createClients(current: () => Current): Clients {
  /** `receive` accepts the request; what it returns carries the request out. */
  const call = <T>(
    service: Call["service"],
    name: string,
    timeoutMs: number,
    receive: () => () => unknown,
    about: Partial<Call> = {},
  ): Promise<T> =>
    new Promise((resolve, reject) => {
      const { world, invocation } = current();
      world.calls.push({
        by: invocation,
        service,
        name,
        state: "sent",
        timesOutAt: world.now + timeoutMs,
        waiting: true,
        receive: () => attempting(receive()),
        finishBy: Infinity,
        ...about,
        resolve: (reply) => {
          if ("error" in reply) reject(reply.error);
          else resolve(reply.value as T);
        },
      });
    });

  connectNextClient((request: Request, timeoutMs: number): Promise<Response> => {
    const { world } = current();
    const receive = () => world.stripe.receive(request);
    return call("stripe", stripeCallName(request), timeoutMs, receive, { request });
  });

  const clients = {
    table: client((command, timeoutMs) => {
      const { world, invocation } = current();
      const apply = () => world.table.apply(command);
      const name = invocation.role === "door" ? "accept" : tableCallName(command);
      return call("table", name, timeoutMs, () => apply, { record: recordIn(command) });
    }),

    orders: client((command, timeoutMs) => {
      const { table } = ordersOf(current().world);
      if (!(command instanceof TransactWriteCommand)) {
        const name = command instanceof GetCommand ? "read order" : "write";
        return call("orders", name, timeoutMs, () => () => table.apply(command));
      }
      // The SDK makes a token and sends it again with its retries.
      const ClientRequestToken = `token-${++tokens}`;
      const transaction = new TransactWriteCommand({ ...command.input, ClientRequestToken });
      return call("orders", "transact", timeoutMs, () => () => table.apply(transaction), {
        conflict: (item) => attempting(() => table.apply(transaction, item))(),
        items: command.input.TransactItems?.length ?? 0,
      });
    }),

    queue: client((command, timeoutMs) => {
      const { world, invocation } = current();
      if (command instanceof SendMessageCommand) {
        const { MessageBody = "" } = command.input;
        const apply = () => sendThroughDoor(world, invocation, MessageBody).sqsMessageId;
        return call("queue", "send", timeoutMs, () => apply);
      }
      const { Entries = [] } = inputOf(command, ChangeMessageVisibilityBatchCommand);
      const queue = consumerOf(invocation.role).queue(world);
      const apply = () => {
        const failed = Entries.filter(
          ({ ReceiptHandle = "", VisibilityTimeout = 0 }) =>
            !queue.setVisibility(ReceiptHandle, VisibilityTimeout),
        );
        return { Failed: failed.map(({ Id }) => ({ Id, Code: "ReceiptHandleIsInvalid" })) };
      };
      return call("queue", "set visibility", timeoutMs, () => apply);
    }),

    bus: client((command, timeoutMs) => {
      const { Entries: entries = [] } = inputOf(command, PutEventsCommand);
      const { bus } = outcomesOf(current().world);
      return call("bus", "publish", timeoutMs, () => () => bus.put(entries), { entries });
    }),
  };
  return clients as unknown as Clients;
}

/** A client of the SDK; the handler says by its options for a call how long it waits. */
const client = (send: (command: object, timeoutMs: number) => Promise<unknown>) => ({
  send: (command: object, { timeoutMs }: { timeoutMs: number }) => send(command, timeoutMs),
});

/** @throws Error for a command that the models do not know */
function inputOf<I>(command: object, known: new (input: I) => { input: I }): I {
  if (command instanceof known) return command.input;
  throw new Error(`The models do not know ${command.constructor.name}.`);
}

function attempting(run: () => unknown): () => Reply {
  return () => {
    try {
      return { value: run() };
    } catch (error) {
      if (error instanceof Error && CONDITIONS.has(error.name)) return { error };
      throw error;
    }
  };
}

const CONDITIONS: ReadonlySet<string> = new Set([
  "ConditionalCheckFailedException",
  "TransactionCanceledException",
]);

function recordIn(command: object): string {
  const { Key, Item } = (command as { input: Record<string, Record<string, unknown>> }).input;
  return String((Key ?? Item)?.["messageId"]);
}

function tableCallName(command: object): string {
  const { input } = command as { input: { UpdateExpression?: string } };
  const update = input.UpdateExpression;
  if (update === undefined) return command.constructor.name.replace("Command", "").toLowerCase();
  if (update.includes("#owner =")) return "take over";
  if (update.includes("#status =")) return "complete";
  return update.includes("outcome =") ? "advance" : "release";
}

function stripeCallName({ method, path }: Request): string {
  if (method !== "GET") return "charge";
  return path.includes("?") ? "look up" : "retrieve";
}
