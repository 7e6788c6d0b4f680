// payments overview: the alarms and the queues now, and what deliveries came to lately.
import { findTarget, TARGET_OPTIONS } from "../clients/target.ts";
import { createReader } from "../overview/read.ts";
import { showOverview } from "../overview/show.ts";
import { flag, instant, readArguments } from "../terminal/arguments.ts";
import { interruptSignal } from "../terminal/command.ts";
import { printJson, say } from "../terminal/print.ts";

export const COMMAND = {
  name: "overview",
  usage: "npm run payments -- overview [options]",
  about: `
Shows the alarms that fire, the depth of both queues, the dead letters by reason with the least time
left, a running redrive, the messages near the dead-letter queue with their next delivery, and the
results of the last 15 minutes by code, with the first and the last time of each.`,
  options: {
    ...TARGET_OPTIONS,
    since: instant("WHEN", "the results since then: 2h for two hours ago, or a time", "15m"),
    json: flag("for scripts"),
  },
  notes: `
Needs both queues, the table and the log group, or the local stack; the alarms need --stack or
--outputs. The local stack evaluates the alarms of a deployment itself, with periods of a tenth. Other
targets: payments --help.

Exit status 3 when there are dead letters or an alarm fires.`,
  examples: [
    "npm run payments -- overview",
    "npm run payments -- overview --since 2h --stack PaymentWorker-prod",
  ],
};

export async function run(args: string[]): Promise<void> {
  const { values } = readArguments(COMMAND, args);
  const target = await findTarget(values);
  const signal = interruptSignal();
  const { warnings, ...overview } = await createReader(target, signal)(values.since);
  const { deadLetters, alarms = [] } = overview;
  if (deadLetters.length > 0 || alarms.length > 0) process.exitCode = 3;
  if (signal.aborted) process.exitCode = 130;
  for (const warning of warnings) say(warning);
  if (values.json) printJson(overview);
  else console.log(showOverview({ ...overview, warnings }, values.since));
}
