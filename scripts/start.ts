// npm start: every function with everything around it, on this machine, until Ctrl-C.
import { flag, integer, readArguments } from "../cli/terminal/arguments.ts";
import { interruption, runCommand, UsageError } from "../cli/terminal/command.ts";
import { everyFunction } from "../local/parts.ts";
import { LOCAL_WORKER } from "../local/payment-worker.ts";
import { openShop } from "../local/shop.ts";
import { startStack } from "../local/stack.ts";
import type { Stack } from "../local/stack.ts";
import { build } from "./build.ts";
import { follow } from "./follow.ts";
import { openLivePage } from "./live-page.ts";
import { startLocalAlarms } from "./local-alarms.ts";
import { announceStack, claimFolder, releaseFolder, startLogFile } from "./running-stack.ts";
import { bridgeAddress, startRelay } from "./sam/docker.ts";
import { createSummary } from "./summary.ts";

const COMMAND = {
  name: "start",
  usage: "npm start -- [options]",
  about: `
Runs queues, tables, Stripe, an event bus and every function on this machine until Ctrl-C.

Each function is its built bundle in processes of its own. Kill one and see what becomes of its
messages. Timings are shorter than in AWS, in the same proportions: local/payment-worker.ts.`,
  options: {
    port: integer("N", "fixed ports, the same after a restart, such as 4700", [1_024, 65_529]),
    container: flag("also lets containers reach the servers, for sam local invoke"),
  },
  notes: `
The servers listen on 127.0.0.1, at any free port, or queue, table, Stripe, bus, payment API and
webhook at N+1 to N+6.
With --container on Linux their ports are open on Docker's bridge too, to every container of this
machine; Docker Desktop's containers reach 127.0.0.1 by themselves.`,
};

await runCommand(async () => {
  const { values } = readArguments(COMMAND);
  const ports = portsFrom(values.port);
  const interrupted = interruption();
  await explained(async () => {
    const other = claimFolder();
    if (other !== undefined) {
      throw new UsageError(
        `A local stack is running already (process ${other}): use that one, or stop it with Ctrl-C in its terminal.`,
      );
    }
    try {
      await build();
      const functions = everyFunction(LOCAL_WORKER, { ...ports, reconcileEveryMs: 60_000 });
      await run(
        await startStack({ functions, ports, stripeKeys: ["sk_test_local", "rk_test_local"] }),
        values,
        interrupted,
      );
    } finally {
      releaseFolder();
    }
  });
});

async function run(
  stack: Stack,
  { container, port }: { container: boolean; port: number | undefined },
  interrupted: Promise<void>,
): Promise<void> {
  await using atEnd = new AsyncDisposableStack(); // the last first
  atEnd.defer(() => stack.stop());
  const bridge = container ? await bridgeAddress() : undefined;
  if (bridge) atEnd.defer(await startRelay(bridge, stack.worker.env));
  const alarms = startLocalAlarms(stack);
  atEnd.defer(() => alarms.stop());
  const page = await openLivePage(stack, { port, commands: true, alarms: alarms.states });
  atEnd.defer(page.stop);
  await openShop(stack);
  const keepLine = startLogFile();
  const summarize = createSummary(stack);
  const pid = stack.worker.provision();
  announceStack(stack, page.url, bridge);
  console.log(introduce(stack, pid, page.url));
  const unfollow = stack.feed.subscribe(follow(console.log));
  stack.feed.subscribe((event) => {
    if (event.type === "log" && event.function === stack.worker.name) keepLine(event.line);
  });
  await interrupted;
  console.log("\nStopping …");
  await stack.worker.stop();
  unfollow();
  console.log(await summarize());
}

type Ports = Record<"queue" | "table" | "stripe" | "bus" | "api" | "webhook", number>;

function portsFrom(port: number | undefined): Ports {
  const at = (offset: number): number => (port === undefined ? 0 : port + offset);
  return { queue: at(1), table: at(2), stripe: at(3), bus: at(4), api: at(5), webhook: at(6) };
}

/** What the machine does not allow becomes a sentence with the next step. */
async function explained(start: () => Promise<void>): Promise<void> {
  try {
    await start();
  } catch (error) {
    const { code = "", path, port } = error as { code?: string; path?: string; port?: number };
    if (code === "EADDRINUSE") {
      throw new UsageError(`Port ${port} is taken: try another --port.`, { cause: error });
    }
    if (["EACCES", "EROFS", "EPERM", "EEXIST", "ENOTDIR"].includes(code) && path !== undefined) {
      throw new UsageError(
        `${path} cannot be written (${code}): npm start builds into dist/ and keeps .local/ in the project's folder.`,
        { cause: error },
      );
    }
    throw error;
  }
}

function introduce(stack: Stack, pid: number, page: string): string {
  const { table, queue, queues, stripe, bus, tableName, functions } = stack;
  const urlOf = (name: string): string => functions.find((one) => one.name === name)?.url ?? "";
  const api = `${urlOf("payment-api")}/payments`;
  const payment = {
    amount: 1250,
    currency: "eur",
    customer: "cus_local",
    paymentMethod: "pm_card_visa",
  };
  const createdAt = "'$(date -u +%Y-%m-%dT%H:%M:%SZ)'";
  const message = { id: "order-1", createdAt, ...payment };
  return `
The payment worker runs on this machine, in process ${pid}. Ctrl-C stops it and forgets everything.

  live page          ${page}
  queue              ${queues.queueUrl}
  dead-letter queue  ${queues.dlqUrl}
  table              ${tableName} at ${table.url}
  Stripe             ${stripe.url}
  event bus          ${bus.url}
  payment API        ${api}
  Stripe's events    ${urlOf("stripe-webhook")}

Pay over HTTP, ask what became of it, and send the same again: it is charged once, and shipped once.
  curl -i ${api} -H 'Content-Type: application/json' -H 'Idempotency-Key: order-7' \\
    -d '${JSON.stringify(payment)}'
  curl ${api}/order-7

Kill a worker with kill -9: its messages come back after ${LOCAL_WORKER.visibilityTimeoutSeconds} s. After ${LOCAL_WORKER.maxReceiveCount} receives a message goes to the dead-letter queue.

Send a payment, the same one twice, a hundred (in another terminal):
  npm run send
  npm run send -- --id order-1 --repeat 2
  npm run send -- --count 100

What became of them, what is in the dead-letter queue and why, and more:
  npm run payments -- --help

The same with the AWS CLI, and what is in the dead-letter queue and in the table:
  export AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local AWS_DEFAULT_REGION=us-east-1
  aws sqs send-message --endpoint-url ${queue.url} --queue-url ${queues.queueUrl} \\
    --message-body '${JSON.stringify(message)}'
  aws sqs receive-message --endpoint-url ${queue.url} --queue-url ${queues.dlqUrl} --visibility-timeout 0
  aws dynamodb scan --endpoint-url ${table.url} --table-name ${tableName}

What Stripe knows:
  curl -s -u sk_test_local: ${stripe.url}/v1/payment_intents

Deliveries:
`;
}
