import { interruption, readArguments, runCommand, UsageError } from "../cli/terminal/command.ts";
import { startStack } from "../local/stack.ts";
import type { Stack } from "../local/stack.ts";
// npm start: the worker with everything around it, on this machine, until Ctrl-C.
import { build } from "./build.ts";
import { follow } from "./follow.ts";
import { announceStack, findRunningStack, startLogFile, withdrawStack } from "./running-stack.ts";
import { bridgeAddress, startRelay } from "./sam/docker.ts";

const HELP = `
npm start                      runs queue, table, Stripe and worker on this machine until Ctrl-C
npm start -- --container       also lets containers reach them, for sam local invoke

The worker is the built bundle in a process of its own. Kill that process and see what becomes of
its messages. Timings are shorter than in AWS, in the same proportions: local/worker-settings.ts.
The servers listen on 127.0.0.1. With --container on Linux their ports are open on Docker's bridge
too, to every container of this machine; Docker Desktop's containers reach 127.0.0.1 by themselves.
`;

await runCommand(async () => {
  const { values, positionals } = readArguments(HELP, { container: { type: "boolean" } });
  if (positionals.length > 0) {
    throw new UsageError(`"${positionals[0]}" is not an option of start. See --help.`);
  }
  const other = findRunningStack();
  if (other) {
    throw new UsageError(
      `A local stack is running already (process ${other.pid}): use that one, or stop it with Ctrl-C in its terminal.`,
    );
  }
  await build();
  const interrupted = interruption();
  const { onEvent, onLog } = follow(console.log);
  const keepLine = startLogFile();
  const stack = await startStack({
    onEvent,
    onLog(entry) {
      keepLine(entry.line);
      onLog(entry);
    },
  });
  let stopRelay: (() => Promise<void>) | undefined;
  try {
    const bridge = values.container ? await bridgeAddress() : undefined;
    if (bridge) stopRelay = await startRelay(bridge, stack.env);
    announceStack(stack, bridge);
    console.log(introduce(stack));
    await interrupted;
    console.log("\nStopping …");
  } finally {
    withdrawStack();
    await stopRelay?.();
    await stack.stop();
  }
});

function introduce({ table, queue, queues, stripe, tableName, worker }: Stack): string {
  const message = {
    id: "order-1",
    createdAt: "'$(date -u +%Y-%m-%dT%H:%M:%SZ)'",
    amount: 1250,
    currency: "eur",
    customer: "cus_local",
    paymentMethod: "pm_card_visa",
  };
  return `
The payment worker runs on this machine. Ctrl-C stops it and forgets everything.

  queue              ${queues.queueUrl}
  dead-letter queue  ${queues.dlqUrl}
  table              ${tableName} at ${table.url}
  Stripe             ${stripe.url}

A killed worker's messages come back after ${worker.visibilityTimeoutSeconds} s; after ${worker.maxReceiveCount} receives a message goes to the dead-letter queue.

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
