// npm run invoke: one event through the bundle, as Lambda would run it, without Docker.
import { readArguments } from "../cli/terminal/arguments.ts";
import { runCommand } from "../cli/terminal/command.ts";
import { DEFAULT_TIMINGS } from "../lib/timing/payments.ts";
import { invokeOnce } from "../local/function-host/invoke-once.ts";
import { paymentWorker } from "../local/payment-worker.ts";
import { startStack } from "../local/stack.ts";
import { build } from "./build.ts";
import { eventFile, readEvent } from "./read-event.ts";
import { findRunningStack } from "./running-stack.ts";
import { ONE_EVENT_VARIABLES } from "./sam/files.ts";

const COMMAND = {
  name: "invoke",
  usage: "npm run invoke -- events/payment.json",
  about: `
Runs the worker once with this event.

The event is an SQS event, as for sam local invoke. Table, queue and Stripe are those of the local
stack that npm start keeps up; without one, a fresh stack for this one call.

Messages that are older than the deduplication window are invalid, and the samples in events/ get
old. So here the worker runs with MAX_MESSAGE_AGE_SECONDS and RECORD_TTL_SECONDS raised to decades,
and the other timings as deployed: the event itself is never changed. The queue knows no receipt handle
of a file, so the worker warns when it sets the visibility timeout of a message that failed.

Exit status 0 when the worker answered, with failures too; 1 when the invocation itself failed.`,
  options: {},
  positionals: "event file",
};

await runCommand(async () => {
  const { positionals } = readArguments(COMMAND);
  const file = eventFile(positionals);
  const event = readEvent(file);
  await build();

  const running = findRunningStack();
  const fresh = running ? undefined : await startStack();
  try {
    const env = { ...(running ?? fresh?.worker)?.env, ...ONE_EVENT_VARIABLES };
    const result = await invokeOnce(
      { ...paymentWorker(), timeoutMs: DEFAULT_TIMINGS.functionTimeoutMs, env },
      event,
      ({ stream, line }) => (stream === "stdout" ? console.log : console.error)(line),
    );
    if (result.ok) {
      console.log(result.payload);
    } else {
      console.error(`The invocation failed (${result.reason}): ${result.errorMessage}`);
      process.exitCode = 1;
    }
  } finally {
    await fresh?.stop();
  }
});
