// npm run break: makes things go wrong on the running local stack, and ends it.
import { setTimeout as sleep } from "node:timers/promises";

import { integer, readArguments, text } from "../cli/terminal/arguments.ts";
import { interruptSignal, runCommand, UsageError } from "../cli/terminal/command.ts";
import { labeled } from "../cli/terminal/print.ts";
import { duration } from "../cli/terminal/progress.ts";
import { table } from "../cli/terminal/table.ts";
import type { On } from "../local/control/order.ts";
import { SWITCHES } from "../local/control/switches.ts";
import { findRunningStack } from "./running-stack.ts";

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600 };

const COMMAND = {
  name: "break",
  usage: "npm run break -- [what [argument] | end [what]] [options]",
  about: `
Breaks the local stack that npm start runs, or ends what is broken; without arguments, lists what is
broken now. The live page has the same switches.`,
  positionals: "What to break",
  options: {
    times: integer("N", "ends after so many requests", [1, 1_000_000]),
    for: {
      ...text("TIME", "ends after 30s, 5m or 1h; Ctrl-C ends it at once"),
      read(name: string, [given]: readonly string[]): number | undefined {
        if (given === undefined) return undefined;
        const [, count = "", unit = ""] = /^(\d{1,5})([smh])$/.exec(given) ?? [];
        if (unit !== "") return Number(count) * (UNITS[unit] ?? 0);
        throw new UsageError(`${name} must be like 30s, 5m or 1h, not "${given}".`);
      },
    },
  },
  notes: `
What
${labeled(
  Object.entries(SWITCHES).map(([name, { argument = "", does }]) => [
    `${name} ${argument}`.trim(),
    does,
  ]),
  98,
)}

ID is a message id. Exit status 0 when it is done, 1 when the stack cannot do it, 2 for wrong usage, 130
when Ctrl-C has ended it.`,
  examples: [
    "npm run break -- outage --for 30s",
    "npm run break -- lost-reply --times 1",
    "npm run break",
    "npm run break -- end",
  ],
};

type Answer = { problem?: string; done?: string; ended?: On[]; on?: On[] };

await runCommand(async () => {
  const { values, positionals } = readArguments(COMMAND);
  const [what, argument = "", ...rest] = positionals;
  if (rest.length > 0) throw new UsageError(`"${rest[0]}" is one argument too many. See --help.`);
  const page = findRunningStack()?.page;
  if (page === undefined)
    throw new UsageError("No local stack is running: start it with npm start.");
  const call = caller(new URL(page));

  if (what === undefined) return list((await call("GET", {})).on ?? []);
  if (what === "end") return report((await call("POST", { end: argument })).ended ?? []);
  if (!Object.hasOwn(SWITCHES, what)) {
    throw new UsageError(`"${what}" is not one of ${Object.keys(SWITCHES).join(", ")}, end.`);
  }
  const { times, for: seconds } = values;
  const { problem, done } = await call("POST", {
    name: what,
    argument,
    ...(times !== undefined && { times: String(times) }),
    ...(seconds !== undefined && { seconds: String(seconds) }),
  });
  if (problem !== undefined) {
    console.error(problem);
    process.exitCode = 1;
    return;
  }
  console.log(done);
  if (seconds === undefined) return;
  const signal = interruptSignal();
  await over(call, what, signal);
  if (signal.aborted) {
    report((await call("POST", { end: what })).ended ?? []);
    process.exitCode = 130;
  } else console.log(`${what} has ended.`);
});

/** Resolves when it is not on any more, or at Ctrl-C. */
async function over(call: Call, name: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await call("GET", {})).on?.some((one) => one.name === name)) {
    await sleep(200, undefined, { signal }).catch(() => {});
  }
}

type Call = (method: "GET" | "POST", params: Record<string, string>) => Promise<Answer>;

function caller({ origin, hash }: URL): Call {
  return async (method, params) => {
    const query = new URLSearchParams(params);
    const headers = { "x-token": hash.slice(1) };
    try {
      const response = await fetch(`${origin}/control?${query.toString()}`, { method, headers });
      return (await response.json()) as Answer;
    } catch (error) {
      throw new UsageError(`The local stack at ${origin} does not answer.`, { cause: error });
    }
  };
}

function report(ended: readonly On[]): void {
  if (ended.length === 0) console.log("Nothing was broken.");
  for (const { name, argument, happened } of ended) {
    const count = happened === undefined ? "" : `, after it happened ${happened} times`;
    console.log(`${`${name} ${argument}`.trim()} has ended${count}.`);
  }
}

function list(on: readonly On[]): void {
  if (on.length === 0)
    return console.log("Nothing is broken. npm run break -- --help lists what can be.");
  const rows = on.map(({ name, argument, does, happened, left, endsAtMs }) => [
    `${name} ${argument}`.trim(),
    happened === undefined ? "" : String(happened),
    [
      ...(left === undefined ? [] : [`${left} more`]),
      ...(endsAtMs === undefined ? [] : [`in ${duration(endsAtMs - Date.now())}`]),
    ].join(", or ") || "until end",
    does,
  ]);
  console.log(table(["broken", "happened", "ends", "what it does"], rows));
}
