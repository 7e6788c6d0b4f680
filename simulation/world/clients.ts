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

/** How long the handler waits, by its options for a call. */
type Options = { timeoutMs: number };

export type Clients = {
  table: DynamoDBDocumentClient;
  orders: DynamoDBDocumentClient;
  queue: SQSClient;
  bus: EventBridgeClient;
};

/** The clients of one execution environment; the next Stripe client that is made is of it too. */
export function createClients(current: () => Current): Clients {
  const call = <T>(
    service: Call["service"],
    name: string,
    timeoutMs: number,
    receive: Call["receive"],
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
    send(command: object, { timeoutMs }: Options) {
      const { world, invocation } = current();
      const apply = attempting(() => world.table.apply(command));
      const record = recordIn(command);
      const name = invocation.role === "door" ? "accept" : tableCallName(command);
      return call("table", name, timeoutMs, () => apply, { record });
    },
  };

  const orders = {
    send(command: object, { timeoutMs }: Options) {
      const { table } = ordersOf(current().world);
      if (!(command instanceof TransactWriteCommand)) {
        const name = command instanceof GetCommand ? "read order" : "write";
        const apply = attempting(() => table.apply(command));
        return call("orders", name, timeoutMs, () => apply);
      }
      // The SDK makes a token and sends it again with its retries.
      const ClientRequestToken = `token-${++tokens}`;
      const transaction = new TransactWriteCommand({ ...command.input, ClientRequestToken });
      const apply = attempting(() => table.apply(transaction));
      return call("orders", "transact", timeoutMs, () => apply, {
        conflict: (item) => attempting(() => table.apply(transaction, item))(),
        items: command.input.TransactItems?.length ?? 0,
      });
    },
  };

  const queue = {
    send(command: object, { timeoutMs }: Options) {
      if (command instanceof SendMessageCommand) {
        const { world, invocation } = current();
        const { MessageBody = "" } = command.input;
        const apply = attempting(
          () => sendThroughDoor(world, invocation, MessageBody).sqsMessageId,
        );
        return call("queue", "send", timeoutMs, () => apply);
      }
      if (!(command instanceof ChangeMessageVisibilityBatchCommand)) {
        throw new Error(`The queue's model does not know ${command.constructor.name}.`);
      }
      const entries = command.input.Entries ?? [];
      const { world, invocation } = current();
      const queue = consumerOf(invocation.role).queue(world);
      const apply = attempting(() => {
        const failed = entries.filter(
          ({ ReceiptHandle = "", VisibilityTimeout = 0 }) =>
            !queue.setVisibility(ReceiptHandle, VisibilityTimeout),
        );
        return { Failed: failed.map(({ Id }) => ({ Id, Code: "ReceiptHandleIsInvalid" })) };
      });
      return call("queue", "set visibility", timeoutMs, () => apply);
    },
  };

  connectNextClient((request: Request, timeoutMs: number): Promise<Response> => {
    const { world } = current();
    const receive = () => attempting(world.stripe.receive(request));
    return call("stripe", stripeCallName(request), timeoutMs, receive, { request });
  });

  const bus = {
    send(command: object, { timeoutMs }: Options) {
      if (!(command instanceof PutEventsCommand)) {
        throw new Error(`The bus's model does not know ${command.constructor.name}.`);
      }
      const entries = command.input.Entries ?? [];
      const { world } = current();
      const apply = attempting(() => outcomesOf(world).bus.put(entries));
      return call("bus", "publish", timeoutMs, () => apply, { entries });
    },
  };

  return {
    table: table as unknown as DynamoDBDocumentClient,
    orders: orders as unknown as DynamoDBDocumentClient,
    queue: queue as unknown as SQSClient,
    bus: bus as unknown as EventBridgeClient,
  };
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
