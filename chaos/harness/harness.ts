// A local stack under test: what producers and operators do to it, what was sent, and what the servers
// saw of it.
import {
  ListMessageMoveTasksCommand,
  SendMessageCommand,
  SQSClient,
  StartMessageMoveTaskCommand,
} from "@aws-sdk/client-sqs";

import type { Timings } from "../../lib/timing/payments.ts";
import { handle } from "../../local/feed.ts";
import type { HostedFunction } from "../../local/hosted-function.ts";
import { everyFunction } from "../../local/parts.ts";
import { paymentWorker } from "../../local/payment-worker.ts";
import { openShop } from "../../local/shop.ts";
import type { StackEvent } from "../../local/stack-event.ts";
import { startStack } from "../../local/stack.ts";
import { messageBody } from "../../scripts/message-body.ts";
import type { Operation, Shape } from "../../scripts/message-body.ts";
import { workerSettings } from "../timings.ts";
import { payOverHttp } from "./client.ts";
import { followDeliveries } from "./deliveries.ts";
import { collectEvidence } from "./evidence.ts";
import { reachVerdict } from "./verdict.ts";
import type { Sent } from "./verdict.ts";

/** Something that goes wrong, on purpose. */
export type PlannedFault = {
  /** The message that it happens to, if it is one. */
  id?: string;
  what: string;
  /** How often it really happened. */
  happened: () => number;
};

export type Harness = Awaited<ReturnType<typeof openHarness>>;

/** `scope`: the worker alone, or every function. */
export async function openHarness(timings: Timings, scope: "worker" | "everything" = "worker") {
  let aheadMs = 0;
  const settings = workerSettings(timings);
  const stack = await startStack({
    functions: scope === "worker" ? [paymentWorker(settings)] : everyFunction(settings),
    now: () => Date.now() + aheadMs,
  });
  if (scope === "everything") await openShop(stack);
  const sqs = new SQSClient({
    endpoint: stack.queue.url,
    region: "us-east-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
    maxAttempts: 10, // a producer that gives up has not sent
  });
  const { queueUrl: QueueUrl } = stack.queues;
  const bodies = new Map<string, Sent>();
  const accepted: string[] = [];
  const kills = new Map<string, number>();
  let sent = 0;
  const readEvidence = collectEvidence(stack, () => accepted);
  const functionNamed = (name: string): HostedFunction => {
    const found = stack.functions.find((one) => one.name === name);
    if (!found) throw new Error(`Bug! There is no function ${name}.`);
    return found;
  };
  stack.feed.subscribe(
    handle<StackEvent>({
      "message sent"({ queue, body }) {
        // By the payment API: what it sends is a payment of the plain shape.
        if (queue !== "payments" || bodies.has(body)) return;
        const { id, amount } = JSON.parse(body) as Sent;
        bodies.set(body, { id, amount, body });
      },
      "environment ended"({ function: name, how, wasBusy }) {
        if (wasBusy && how.includes("SIGKILL")) kills.set(name, (kills.get(name) ?? 0) + 1);
      },
    }),
  );

  return {
    stack,
    sqs,
    deliveries: followDeliveries(
      stack.feed,
      stack.worker.name,
      (body) => bodies.get(body)?.id ?? body,
    ),
    /** How many messages were sent, repeats too. */
    sent: () => sent,
    /** Sends this very body. */
    send: async (message: Sent): Promise<void> => {
      bodies.set(message.body, message);
      sent += 1;
      await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: message.body }));
    },
    /** Pays by the payment API, as a client that gives up on an answer after `timeoutMs`. */
    order: async (id: string, changes: Partial<Operation> = {}, timeoutMs = 5_000) => {
      sent += 1;
      const { id: _, sentAt: __, ...asked } = operationOf(id, changes);
      const url = functionNamed("payment-api").url ?? "";
      const answer = await payOverHttp(url, id, asked, { timeoutMs, attempts: 20 });
      if (answer.accepted) accepted.push(id);
      return answer;
    },
    functionNamed,
    /** How many environments of a function were killed with an event. */
    killsOf: (name: string): number => kills.get(name) ?? 0,
    /** An operator's redrive of a whole dead-letter queue; returns how many messages were moved. */
    redrive: async (queue = "payments"): Promise<number> => {
      const SourceArn = `arn:aws:sqs:us-east-1:000000000000:${queue}-dlq`;
      await sqs.send(new StartMessageMoveTaskCommand({ SourceArn }));
      for (;;) {
        const { Results: [newest] = [] } = await sqs.send(
          new ListMessageMoveTasksCommand({ SourceArn, MaxResults: 1 }),
        );
        if (newest?.Status !== "RUNNING") return newest?.ApproximateNumberOfMessagesMoved ?? 0;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    /** Moves the clocks of Stripe and of the table, and not the worker's. */
    advanceServers: (ms: number) => void (aheadMs += ms),
    /** Stop the worker first, or see that it is idle. */
    verdict: async () => reachVerdict(await readEvidence([...bodies.values()])),
  };
}

/** A payment's message, with what is given in place of the usual. */
export function payment(
  id: string,
  changes: Partial<Operation> = {},
  shape: Shape = "plain",
): Sent {
  const operation = operationOf(id, changes);
  return { id, amount: operation.amount, body: messageBody(shape, operation) };
}

function operationOf(id: string, changes: Partial<Operation>): Operation {
  return {
    id,
    sentAt: new Date(),
    amount: 1250,
    currency: "eur",
    customer: "cus_local",
    paymentMethod: "pm_card_visa",
    ...changes,
  };
}
