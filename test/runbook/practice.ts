// A local stack with its page and its alarms, and the commands of the runbook on it.
import { join } from "node:path";

import { expect } from "vitest";

import { startAlarms } from "../../local/alarms/alarms.ts";
import type { Alarms } from "../../local/alarms/alarms.ts";
import { LOCAL_WORKER } from "../../local/payment-worker.ts";
import type { WorkerSettings } from "../../local/payment-worker.ts";
import { alarmDefinitions } from "../../scripts/alarm-definitions.ts";
import { openLivePage } from "../../scripts/live-page.ts";
import type { startOperator } from "../cli/operator.ts";
import type { AtEnd } from "../cli/operator.ts";
import { until } from "../cli/operator.ts";
import type { Finished } from "../support/command.ts";

const ROOT = join(import.meta.dirname, "..", "..");

export const DEFINITIONS = alarmDefinitions();

export type Operator = Awaited<ReturnType<typeof startOperator>>;
/** Runs one command of the page; `ID` and `ASIDE` are set as the page says. */
export type Run = ((command: string, shows: RegExp) => Promise<Finished>) & {
  commands: string[];
};

export const PROGRAMS: Readonly<Record<string, string>> = {
  payments: `'${join(ROOT, "cli", "payments.cjs")}'`,
  send: `'${join(ROOT, "cli", "payments.cjs")}' send`,
  break: `'${join(ROOT, "scripts", "break.ts")}'`,
};

export function runner(operator: Operator, aside: string): Run {
  const commands: string[] = [];
  const run = async (command: string, shows: RegExp): Promise<Finished> => {
    commands.push(command);
    const changes = / redrive | republish | --repair/.test(command);
    const script = command.replace(
      /^npm run (\w+)( --)?/,
      (_, name: string) => `exec '${process.execPath}' ${PROGRAMS[name]}`,
    );
    const { child, output, finished } = operator.start(
      "sh",
      ["-c", changes ? `${script} --yes` : script],
      { ID: "order-1", ASIDE: aside },
    );
    if (command.includes(" tail ")) {
      await until(() => shows.test(output.stdout));
      child.kill("SIGINT");
    }
    const result = await finished;
    expect(`${command}\n${result.stderr}\n${result.stdout}`).toMatch(shows);
    if (/ (break|send) /.test(command))
      expect(result).toMatchObject({ code: 0, stderr: expect.not.stringContaining("rror") });
    return result;
  };
  return Object.assign(run, { commands });
}

/** Starts page and alarms; `speed` is how many of AWS's seconds one of this machine's stands for. */
export async function startPractice(
  operator: Operator,
  worker: Partial<WorkerSettings>,
  speed: number,
  atEnd: AtEnd,
): Promise<Alarms> {
  const { stack, running, announce } = operator;
  const definitions = alarmDefinitions({
    ...LOCAL_WORKER,
    ...worker,
    env: { ...LOCAL_WORKER.env, ...worker.env },
  });
  const alarms = startAlarms(stack, definitions, speed);
  const page = await openLivePage(stack, { port: 0, commands: true, alarms: alarms.states });
  atEnd(async () => {
    alarms.stop();
    await page.stop();
  });
  running.page = page.url;
  announce();
  return alarms;
}

/** A queue that keeps what has been answered. */
export async function queueAside({ stack }: Operator): Promise<string> {
  const { queueUrl } = await stack.queue.createQueues({
    name: "answered",
    visibilityTimeoutSeconds: 30,
    maxReceiveCount: 5,
  });
  return queueUrl;
}
