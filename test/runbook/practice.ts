// A local stack with its page and its alarms, and the commands of the runbook on it.
import { join } from "node:path";

import { expect } from "vitest";

import { startAlarms } from "../../local/alarms/alarms.ts";
import type { Alarms } from "../../local/alarms/alarms.ts";
import { LOCAL_WORKER } from "../../local/payment-worker.ts";
import type { WorkerSettings } from "../../local/payment-worker.ts";
import { alarmDefinitions } from "../../scripts/alarm-definitions.ts";
import { openLivePage } from "../../scripts/live-page.ts";
import { until } from "../cli/operator.ts";
import type { Operator } from "../cli/operator.ts";
import type { AtEnd } from "../local/aws-fixture.ts";
import type { Finished } from "../support/command.ts";

const ROOT = join(import.meta.dirname, "..", "..");

export const DEFINITIONS = alarmDefinitions();
/** Runs one command of the page; `ID` and `ASIDE` are set as the page says. */
export type Run = (command: string, shows: RegExp) => Promise<Finished>;

export const PROGRAMS: Readonly<Record<string, string>> = {
  payments: `'${join(ROOT, "cli", "payments.cjs")}'`,
  send: `'${join(ROOT, "cli", "payments.cjs")}' send`,
  break: `'${join(ROOT, "scripts", "break.ts")}'`,
};

export function runner(operator: Operator, aside: string): Run {
  return async (command, shows) => {
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
