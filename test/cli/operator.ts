// A local stack and an operator, who runs the payments command in processes of its own.
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { SendMessageCommand } from "@aws-sdk/client-sqs";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { Stripe } from "stripe";
import { onTestFinished } from "vitest";

import { timingVariables } from "../../lib/timing/variables.ts";
import type { FunctionSpec } from "../../local/hosted-function.ts";
import { LOCAL_WORKER, paymentWorker } from "../../local/payment-worker.ts";
import type { WorkerSettings } from "../../local/payment-worker.ts";
import type { StackEvent } from "../../local/stack-event.ts";
import { startStack } from "../../local/stack.ts";
import { describeStack } from "../../scripts/running-stack.ts";
import { queueClient, tableClient } from "../local/aws-fixture.ts";
import type { AtEnd } from "../local/aws-fixture.ts";
import { newFolder, startCommand } from "../support/command.ts";
import type { Finished } from "../support/command.ts";
import { WORKER_TIMINGS } from "../support/timings.ts";

const ROOT = join(import.meta.dirname, "..", "..");

/** What a local stack leaves at the defaults is written out here. */
const LOCAL = { ...timingVariables(WORKER_TIMINGS), ...LOCAL_WORKER.env };
/** Calls with time to spare, on a machine that does other things too. */
const PATIENT = {
  functionTimeoutMs: 20_000,
  visibilityTimeoutSeconds: 30,
  env: { CALL_TIMEOUT_SECONDS: "3", STRIPE_TIMEOUT_SECONDS: "3" },
};
/** For tests that wait for a lease to expire. */
export const BRISK = {
  functionTimeoutMs: 9_000,
  visibilityTimeoutSeconds: 10,
  env: { CALL_TIMEOUT_SECONDS: "2", STRIPE_TIMEOUT_SECONDS: "2" },
};

export type Operator = Awaited<ReturnType<typeof startOperator>>;

/**
 * Starts the stack and its operator; both are gone when the test is. A test that runs beside others
 * passes its own `onTestFinished`. `others` are functions beside the worker.
 */
export async function startOperator(
  worker: Partial<WorkerSettings> = {},
  atEnd: AtEnd = onTestFinished,
  others: readonly FunctionSpec[] = [],
) {
  const folder = newFolder(atEnd);
  const logFile = join(folder, ".local", "worker.log");
  mkdirSync(join(folder, ".local"));
  writeFileSync(logFile, "");
  const lines: Record<string, unknown>[] = [];
  const events: StackEvent[] = [];
  const stack = await startStack({
    functions: [
      paymentWorker({
        ...PATIENT,
        ...worker,
        env: { ...LOCAL, ...PATIENT.env, ...worker.env },
      }),
      ...others,
    ],
  });
  stack.feed.subscribe((event) => {
    events.push(event);
    if (event.type !== "log") return;
    appendFileSync(logFile, `${event.line}\n`);
    if (event.line.startsWith("{")) lines.push(JSON.parse(event.line) as Record<string, unknown>);
  });
  const { queueUrl, dlqUrl } = stack.queues;
  const sqs = queueClient(stack.queue.url, atEnd);
  const table = tableClient(stack.table.url, {}, atEnd);
  atEnd(() => stack.stop());
  const running = describeStack(stack, logFile);
  const announce = () =>
    writeFileSync(join(folder, ".local", "stack.json"), JSON.stringify(running));
  announce();

  /** Runs a program in the operator's folder, with nothing of this process's environment but the path. */
  function start(program: string, args: string[], env: Record<string, string> = {}) {
    const started = startCommand(folder, program, args, env);
    atEnd(() => void started.child.kill("SIGKILL"));
    return started;
  }
  const command = (...args: string[]) =>
    start(process.execPath, [join(ROOT, "cli", "payments.cjs"), ...args]);

  const sendBody = async (body: string, to = queueUrl): Promise<void> => {
    await sqs.send(new SendMessageCommand({ QueueUrl: to, MessageBody: body }));
  };

  return {
    stack,
    sqs,
    folder,
    lines,
    events,
    running,
    /** Makes a change of `running` known to the next command. */
    announce,
    start,
    /** Starts `payments …`, for what does not end by itself. */
    command,
    /** Runs `payments …` to its end. */
    payments: (...args: string[]): Promise<Finished> => command(...args).finished,
    /** Runs `payments … --json`, and reads what it printed. */
    json: async <T>(...args: string[]): Promise<T> => {
      const { code, stdout, stderr } = await command(...args, "--json").finished;
      if (stdout === "")
        throw new Error(`payments ${args.join(" ")} ended with ${code}: ${stderr}`);
      return JSON.parse(stdout) as T;
    },
    sendBody,
    /** Sends payments that are good, but for `changes`. */
    send: async (id: string, changes: Record<string, unknown> = {}, to = queueUrl) =>
      sendBody(JSON.stringify({ ...payment(id), ...changes }), to),
    /** Waits until the dead-letter queue holds `count` messages. */
    deadLetters: (count: number): Promise<void> =>
      until(async () => (await stack.queue.depth(dlqUrl)).visible === count),
    /** Puts a record, whatever the protocol says. */
    put: async (Item: Record<string, unknown>, TableName = stack.tableName): Promise<void> => {
      await table.send(new PutCommand({ TableName, Item }));
    },
    record: (id: string) => stack.table.item(stack.tableName, id),
    charges: (id: string) => stack.stripe.ledger.countsFor(id).charges,
    /** Charges at Stripe, past the worker; returns the PaymentIntent's id. */
    async charge(metadata: Record<string, string>, payment_method = "pm_card_visa") {
      const { port } = stack.stripe;
      const stripe = new Stripe("sk_test_local", { protocol: "http", host: "127.0.0.1", port });
      const params = { amount: 1250, currency: "eur", customer: "cus_ada", payment_method };
      const create = { ...params, metadata, confirm: true, off_session: true };
      return stripe.paymentIntents.create(create).then(
        ({ id }) => id,
        (error: Stripe.errors.StripeCardError) => error.payment_intent?.id ?? "",
      );
    },
    /** Another queue, for what is set aside. */
    queueAside: async (): Promise<string> => {
      const policy = { visibilityTimeoutSeconds: 30, maxReceiveCount: 5 };
      return (await stack.queue.createQueues({ name: "answered", ...policy })).queueUrl;
    },
  };
}

export function payment(id: string): Record<string, unknown> {
  return {
    id,
    createdAt: new Date().toISOString(),
    amount: 1250,
    currency: "eur",
    customer: "cus_ada",
    paymentMethod: "pm_card_visa",
  };
}

/** Waits for a condition, for as long as a busy machine may need. @throws Error after a minute */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + 60_000;
  while (!(await condition())) {
    if (performance.now() > giveUpAt) throw new Error(`Not within a minute: ${String(condition)}`);
    await sleep(50);
  }
}
