// The examples in the help of every command, run as they are printed, on one local stack. What is for a
// deployed stack runs on the local one, without --stack; redrives and publications get --yes.
import { readdirSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { everyFunction } from "../../local/parts.ts";
import { openShop } from "../../local/shop.ts";
import { startOperator, until } from "../cli/operator.ts";
import { PROGRAMS, startPractice } from "./practice.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const COMMANDS = readdirSync(join(ROOT, "cli", "commands")).map((file) => file.slice(0, -3));

test(
  "every example of every help runs as it is printed",
  { timeout: 400_000 },
  async ({ onTestFinished }) => {
    const [, ...others] = everyFunction();
    const worker = { maxReceiveCount: 5, env: { BACKOFF_CAP_SECONDS: "1" } };
    const operator = await startOperator(worker, onTestFinished, others);
    await openShop(operator.stack);
    await startPractice(operator, worker, 60, onTestFinished);
    const aside = await operator.queueAside();
    const outage = operator.stack.stripe.faults.outage("unavailable");
    for (const id of ["order-1", "order-2"]) await operator.send(id);
    await operator.send("order-3", { amount: 0 });
    await operator.deadLetters(3);
    outage.remove();

    const sh = (line: string) => operator.start("sh", ["-c", line], { ANSWERED_QUEUE_URL: aside });
    const node = `'${process.execPath}'`;
    const helps = [
      ...COMMANDS.map((name) => `${node} ${PROGRAMS["payments"]} ${name} --help`),
      `${node} ${PROGRAMS["break"]} --help`,
    ];
    const ran: string[] = [];
    for (const help of helps) {
      const { stdout } = await sh(help).finished;
      const examples = (stdout.split("\nExamples\n")[1] ?? "").trim().split("\n");
      expect([help, examples.length > 0]).toEqual([help, true]);
      for (const example of examples.map((line) => line.trim())) {
        expect(example).toMatch(/^npm run (--silent )?(payments|break)\b/);
        const changes = / (redrive|republish|reconcile --repair)\b/.test(example);
        const line = example
          .replace(
            /^npm run (?:--silent )?(\w+)(?: --)?/,
            (_, name: string) => `${node} ${PROGRAMS[name]}`,
          )
          .replace(/ --stack \S+/, "")
          .replace(/( --yes)?( \||$)/, `${changes ? " --yes" : ""}$2`);
        const endless = / (tail|watch) /.test(`${example} `);
        // A signal ends no pipeline but its shell, so what never ends by itself runs without its pipe.
        const [first = ""] = line.split(" | ");
        const { child, output, finished } = sh(
          endless ? `exec ${first}` : line.includes("|") ? line : `exec ${line}`,
        );
        if (endless) {
          // Until Ctrl-C, for as long as there is nothing to read.
          await until(() => output.stdout !== "" || example.endsWith("tail") || line !== first);
          child.kill("SIGINT");
        }
        const { code, stderr } = await finished;
        expect({ example, code, stderr }).toEqual({
          example,
          code: expect.toSatisfy((one: number | null) => one === 0 || one === 3 || one === null),
          stderr: expect.not.stringMatching(/See --help|rror:|^\s+at /m),
        });
        ran.push(example);
      }
    }
    expect(ran.length).toBeGreaterThan(30);
  },
);
