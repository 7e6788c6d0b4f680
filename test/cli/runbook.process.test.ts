// docs/runbook.md, carried out: every section's commands, in their order, on a stack where the cause of
// the alarm has happened. Redrives and repairs get --yes, because there is no terminal.
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { Stack } from "aws-cdk-lib";
import { expect, test } from "vitest";

import { newApp, paymentWorker } from "../infra/synth.ts";
import type { Finished } from "../support/command.ts";
import { BRISK, startOperator, until } from "./operator.ts";
import { startSecret } from "./secrets.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const PAGE = readFileSync(join(ROOT, "docs", "runbook.md"), "utf8");
const QUICK = { maxReceiveCount: 2, env: { BACKOFF_CAP_SECONDS: "1" } };

type Operator = Awaited<ReturnType<typeof startOperator>>;
/** Runs one command of the page; `ID` and `ASIDE` are set as the page says. */
type Run = (command: string, shows: RegExp) => Promise<Finished>;

const SECTIONS = new Map(
  PAGE.split("\n# Around the worker\n", 1)
    .join("")
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [name = "", ...rest] = section.split("\n");
      const blocks = [...rest.join("\n").matchAll(/```sh\n([\s\S]+?)```/g)];
      const commands = blocks.flatMap(([, block = ""]) => block.trim().split("\n"));
      return [name, { text: rest.join("\n"), commands }] as const;
    }),
);

function runner(operator: Operator, aside: string): Run & { commands: string[] } {
  const commands: string[] = [];
  const run = async (command: string, shows: RegExp): Promise<Finished> => {
    commands.push(command);
    const changes = / redrive | --repair/.test(command);
    const script = command.replace(
      /^npm run payments --/,
      `exec '${process.execPath}' '${join(ROOT, "cli", "payments.cjs")}'`,
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
    return result;
  };
  return Object.assign(run, { commands });
}

type Scenario = {
  worker?: Parameters<typeof startOperator>[0];
  play: (operator: Operator, run: Run) => Promise<void>;
};

const SCENARIOS: Record<string, Scenario> = {
  DeadLetters: {
    worker: QUICK,
    async play({ stack, send, deadLetters, charges }, run) {
      const outage = stack.stripe.faults.outage("unavailable");
      await send("order-1");
      await send("order-2", { amount: 0 });
      await deadLetters(2);
      await run("npm run payments -- dlq --summary", /1 message {3}stripe_unavailable\//);
      await run("npm run payments -- dlq", /order-2 .+ invalid\/amount/);
      await run(
        'npm run payments -- status "$ID" --stripe',
        /attempt 2 ended without one[^]+Stripe is not available/,
      );
      outage.remove();
      await run("npm run payments -- redrive --reason stripe_unavailable", /order-1 .+ succeeded/);
      await run('npm run payments -- redrive --reason invalid --to "$ASIDE"', /1 message moved/);
      await run("npm run payments -- dlq", /The dead-letter queue is empty/);
      expect([charges("order-1"), charges("order-2")]).toEqual([1, 0]);
    },
  },
  DeadLettersExpiring: {
    async play({ stack, send, charges }, run) {
      const { dlqUrl } = stack.queues;
      await send("order-1", {}, dlqUrl);
      await run("npm run payments -- dlq", /order-1 +\d+ s +14 d +unclaimed/);
      await run("npm run payments -- redrive --all --limit 10", /order-1 .+ succeeded/);
      await send("order-2", { currency: "xxx" }, dlqUrl);
      await run('npm run payments -- redrive --all --to "$ASIDE"', /1 message moved/);
      await run("npm run payments -- dlq", /The dead-letter queue is empty/);
      expect(charges("order-1")).toBe(1);
    },
  },
  QueueAge: {
    worker: { maxReceiveCount: 14 },
    async play({ stack, send, charges }, run) {
      const outage = stack.stripe.faults.outage("unreachable");
      await send("order-1");
      await run(
        "npm run payments -- tail --since 15m",
        /order-1 {2}no outcome yet: stripe_unavailable {2}.+, connection/,
      );
      await run('npm run payments -- status "$ID"', /last error +stripe_unavailable/);
      outage.remove();
      await stack.drained(60_000);
      await run("npm run payments -- tail --since 1m", /order-1 {2}charge succeeded/);
      await run('npm run payments -- status "$ID"', /outcome +succeeded/);
      expect(charges("order-1")).toBe(1);
    },
  },
  KeepsFailing: {
    worker: { maxReceiveCount: 14 },
    async play({ stack, send, charges }, run) {
      const outage = stack.stripe.faults.outage("unreachable");
      await send("order-1");
      await run(
        "npm run payments -- tail --since 15m",
        /order-1 {2}no outcome yet: stripe_unavail/,
      );
      await run('npm run payments -- status "$ID" --stripe', /last error +stripe_unavailable/);
      outage.remove();
      await stack.drained(60_000);
      await run('npm run payments -- status "$ID"', /outcome +succeeded/);
      expect(charges("order-1")).toBe(1);
    },
  },
  Conflicts: {
    async play({ stack, send, deadLetters, charges }, run) {
      await send("order-1", { amount: 500 });
      await stack.drained(60_000);
      await send("order-1", { amount: 700 });
      await deadLetters(1);
      await run("npm run payments -- dlq --summary", /1 message {3}conflict/);
      await run('npm run payments -- status "$ID" --stripe', /succeeded, 500 eur/);
      await run('npm run payments -- redrive --reason conflict --to "$ASIDE"', /1 message moved/);
      await run("npm run payments -- dlq", /The dead-letter queue is empty/);
      expect(charges("order-1")).toBe(1);
    },
  },
  InvalidMessages: {
    async play({ send, deadLetters, charges }, run) {
      await send("order-1", { amount: 12.5 });
      await send("order-2", { customer: "cus_missing" });
      await deadLetters(2);
      await run(
        "npm run payments -- dlq --summary",
        /amount must be an integer in Stripe's smallest unit/,
      );
      // Nobody fixes that customer: it comes back.
      await run(
        "npm run payments -- redrive --reason stripe_rejected",
        /order-2 +back in the dead/,
      );
      await run('npm run payments -- redrive --reason invalid --to "$ASIDE"', /1 message moved/);
      await send("order-1"); // fixed, with the same id
      await until(() => charges("order-1") === 1);
      await run('npm run payments -- status "$ID" --stripe', /record and Stripe agree/);
      await run("npm run payments -- dlq", /order-2 .+stripe_rejected/);
    },
  },
  Takeovers: {
    worker: BRISK,
    async play({ stack, send, charges }, run) {
      stack.stripe.faults.add(
        { method: "POST" },
        { kind: "hook", at: "applied", run: () => void stack.worker.kill() },
      );
      await send("order-1");
      await stack.drained(60_000);
      await run("npm run payments -- tail --since 15m", /order-1 {2}charge succeeded.+attempt 2/);
      await run('npm run payments -- status "$ID" --stripe', /record and Stripe agree/);
      await run("npm run payments -- reconcile --since 1h", /No differences/);
      expect(charges("order-1")).toBe(1);
    },
  },
  LeasesLost: {
    async play({ stack, send, record, put, lines, charges }, run) {
      // Another worker takes the claim over while this one waits for Stripe, as after a standstill.
      stack.stripe.faults.add(
        { method: "POST" },
        {
          kind: "hook",
          at: "applied",
          run: async () => {
            const claim = (await record("order-1")) ?? {};
            await put({ ...claim, owner: "another", attempt: 2, leaseExpiresAt: 0 });
          },
        },
      );
      await send("order-1");
      await until(() => lines.some(({ decision }) => decision === "lease_lost"));
      await stack.drained(60_000);
      await run(
        "npm run payments -- tail --since 1h",
        /another worker took the claim over.+ [\w-]{36}$/m,
      );
      await run('npm run payments -- status "$ID" --stripe', /record and Stripe agree/);
      await run("npm run payments -- reconcile --since 24h", /No differences/);
      expect(charges("order-1")).toBe(1);
    },
  },
  Throttles: {
    async play({ stack, send, charges }, run) {
      // Nothing throttles the local event source: the message is where throttling would have led it.
      await send("order-1", {}, stack.queues.dlqUrl);
      await run("npm run payments -- dlq --summary", /1 message {3}unclaimed/);
      await run("npm run payments -- redrive --reason unclaimed", /order-1 .+ succeeded/);
      await run("npm run payments -- dlq", /The dead-letter queue is empty/);
      expect(charges("order-1")).toBe(1);
    },
  },
  Errors: {
    worker: QUICK,
    async play({ stack, send, deadLetters, charges, events }, run) {
      const outage = stack.stripe.faults.outage("unavailable");
      await send("order-1");
      await deadLetters(1);
      expect(events.some((event) => event.type === "failed" && event.reason === "error")).toBe(
        true,
      );
      await run(
        "npm run payments -- tail --since 15m",
        /order-1 {2}no outcome yet: stripe_unavail/,
      );
      await run('npm run payments -- status "$ID"', /released by its owner/);
      outage.remove();
      await run("npm run payments -- redrive --reason stripe_unavailable", /order-1 .+ succeeded/);
      await run('npm run payments -- status "$ID" --stripe', /record and Stripe agree/);
      await run("npm run payments -- dlq", /The dead-letter queue is empty/);
      expect(charges("order-1")).toBe(1);
    },
  },
  NearTimeout: {
    async play({ stack, send, charges }, run) {
      await send("order-1");
      await stack.drained(60_000);
      await run("npm run payments -- tail --since 15m", /order-1 {2}charge succeeded/);
      await run('npm run payments -- status "$ID" --stripe', /record and Stripe agree/);
      expect(charges("order-1")).toBe(1);
    },
  },
  TableErrors: {
    worker: QUICK,
    async play({ stack, send, deadLetters, charges }, run) {
      const outage = stack.table.faults.add(
        { operation: "PutItem", times: Infinity },
        { kind: "refuse", status: 500, code: "InternalServerError", message: "away" },
      );
      await send("order-1");
      await deadLetters(1);
      await run("npm run payments -- tail --since 15m", /order-1 {2}.*table_unavailable/);
      outage.remove();
      await run("npm run payments -- dlq --summary", /1 message {3}unclaimed/);
      await run("npm run payments -- redrive --reason unclaimed", /order-1 .+ succeeded/);
      await run('npm run payments -- status "$ID" --stripe', /record and Stripe agree/);
      await run("npm run payments -- dlq", /The dead-letter queue is empty/);
      expect(charges("order-1")).toBe(1);
    },
  },
  NoSuccess: {
    async play({ stack, send, charges }, run) {
      await send("order-1", { paymentMethod: "pm_card_chargeDeclinedInsufficientFunds" });
      await stack.drained(60_000);
      await run(
        "npm run payments -- tail --since 15m",
        /order-1 {2}charge declined.+card_declined, insufficient_funds/,
      );
      await run('npm run payments -- status "$ID" --stripe', /insufficient_funds/);
      await send("order-2");
      await stack.drained(60_000);
      await run("npm run payments -- tail --since 1m", /order-2 {2}charge succeeded/);
      expect([charges("order-1"), charges("order-2")]).toEqual([0, 1]);
    },
  },
  NoTraffic: {
    async play({ stack, send, charges }, run) {
      await run("npm run payments -- overview", /queue/);
      await run("npm run payments -- tail --since 2h", /^/);
      await send("order-1");
      await stack.drained(60_000);
      await run("npm run payments -- tail --since 1m", /order-1 {2}charge succeeded/);
      expect(charges("order-1")).toBe(1);
    },
  },
  "After an incident": {
    worker: BRISK,
    async play({ stack, send, record, charges }, run) {
      const lost = stack.table.faults.add(
        { operation: "UpdateItem", times: Infinity },
        { kind: "refuse", status: 500, code: "InternalServerError", message: "away" },
      );
      await send("order-1");
      await until(() => charges("order-1") === 1);
      const leased = async () => Number((await record("order-1"))?.["leaseExpiresAt"]) > Date.now();
      stack.queue.faults.add(
        { operation: "ReceiveMessage", queue: "payments", times: Infinity },
        { kind: "refuse", status: 503, code: "ServiceUnavailable", message: "away" },
      );
      await until(async () => !(await leased()));
      lost.remove();
      await run("npm run payments -- reconcile --since 24h", /order-1 +not recorded/);
      await run(
        "npm run payments -- reconcile --since 24h --repair",
        /order-1: recorded as succeeded/,
      );
      expect(await record("order-1")).toMatchObject({ outcome: { result: "succeeded" } });
    },
  },
  "Restore the table": {
    async play({ stack, send, record, charges }, run) {
      const sent = { createdAt: new Date().toISOString() };
      await send("order-1", sent);
      await stack.drained(60_000);
      const { expiresAt } = (await record("order-1")) ?? {};
      await stack.table.deleteExpired(Number(expiresAt) + 1); // restored to before it
      expect(await record("order-1")).toBeUndefined();
      await run("npm run payments -- reconcile --since 24h", /order-1 +not recorded/);
      await run(
        "npm run payments -- reconcile --since 24h --repair",
        /order-1: recorded as succeeded/,
      );
      const { requests } = stack.stripe.ledger.totals();
      await send("order-1", sent);
      await stack.drained(60_000);
      await run('npm run payments -- status "$ID" --stripe', /record and Stripe agree/);
      await run("npm run payments -- reconcile --since 24h", /No differences/);
      const asked = stack.stripe.ledger.requests().slice(requests);
      expect(asked.filter(({ method }) => method === "POST")).toEqual([]); // it was a duplicate
      expect(charges("order-1")).toBe(1);
    },
  },
};

// They mostly wait for a queue: some at a time.
test.concurrent.for(Object.entries(SCENARIOS))(
  "the commands of the section %s do what it says",
  async ([name, { worker = {}, play }], { onTestFinished }) => {
    const operator = await startOperator(worker, onTestFinished);
    const run = runner(operator, await queueAside(operator));

    await play(operator, run);

    expect(run.commands).toEqual(SECTIONS.get(name)?.commands);
  },
);

test("the commands of the section ConfigurationErrors do what it says", async () => {
  const secret = await startSecret("sk_test_shop_old");
  const operator = await startOperator({ ...QUICK, env: { ...QUICK.env, ...secret.env } });
  const { stack, send, deadLetters, charges } = operator;
  const run = runner(operator, await queueAside(operator));
  stack.stripe.keys.revoke("sk_test_shop_old");
  await send("order-1");
  await deadLetters(1);

  await run(
    "npm run payments -- tail --since 15m",
    /order-1 {2}Stripe refused the API key.+api_key_expired/,
  );
  secret.put("sk_test_shop_new");
  await run("npm run payments -- redrive --reason stripe_configuration", /order-1 .+ succeeded/);
  await run("npm run payments -- tail --since 1m", /order-1 {2}charge succeeded/);
  await run('npm run payments -- status "$ID"', /outcome +succeeded/);

  expect(charges("order-1")).toBe(1);
  expect(run.commands).toEqual(SECTIONS.get("ConfigurationErrors")?.commands);
});

test("the commands of the section Another region do what it says", async () => {
  const a = await startOperator({ ...BRISK, maxReceiveCount: 2 });
  const secret = await startSecret("");
  const STRIPE_API_BASE = a.stack.stripe.url; // one for both
  const b = await startOperator({
    ...QUICK,
    env: { ...QUICK.env, ...secret.env, STRIPE_API_BASE },
  });
  b.running.endpoints.stripe = STRIPE_API_BASE;
  const { STRIPE_SECRET_ARN: _, ...env } = b.running.env;
  b.running.env = { ...env, STRIPE_API_KEY: "sk_test_local" }; // the operator's own
  b.announce();
  const inA = runner(a, await queueAside(a));
  const inB = runner(b, await queueAside(b));
  // A is away from the charge on: it records nothing.
  const away = a.stack.table.faults.add(
    { operation: "UpdateItem", times: Infinity },
    { kind: "refuse", status: 500, code: "InternalServerError", message: "away" },
  );
  const sent = { createdAt: new Date().toISOString() };
  await a.send("order-1", sent);
  await until(() => a.charges("order-1") === 1);
  await b.send("order-1", sent);
  await b.deadLetters(1);

  await inB('npm run payments -- status "$ID" --stripe', /stripe_configuration/);
  secret.put("sk_test_local");
  await inB("npm run payments -- redrive --reason stripe_configuration", /order-1 .+ succeeded/);
  await inB('npm run payments -- status "$ID" --stripe', /record and Stripe agree/);
  await b.send("order-2");
  await until(() => a.charges("order-2") === 1);
  await a.deadLetters(1);
  away.remove();
  await inA("npm run payments -- redrive --all", /order-1 .+ succeeded/);
  await inA("npm run payments -- reconcile --since 24h --repair", /order-2: recorded as succeeded/);
  await inA("npm run payments -- reconcile --since 24h", /No differences/);

  expect([a.charges("order-1"), a.charges("order-2")]).toEqual([1, 1]);
  expect([...inB.commands, ...inA.commands]).toEqual(SECTIONS.get("Another region")?.commands);
});

test("every alarm of the stack has its section, and every section is carried out here", () => {
  const { alarms } = paymentWorker(new Stack(newApp(), "Stack"));
  const names = alarms.map(({ node }) => node.id);

  const others = ["NoTraffic", "After an incident", "Restore the table", "Another region"];
  expect([...SECTIONS.keys()]).toEqual([...names, ...others]);
  expect(new Set([...Object.keys(SCENARIOS), "ConfigurationErrors", "Another region"])).toEqual(
    new Set(SECTIONS.keys()),
  );
});

test("every section says what it means for customers, how to see it, what to do and when it is over", () => {
  for (const [name, { text }] of SECTIONS) {
    if (name === "After an incident") continue;
    const parts = [...text.matchAll(/^\*\*(For customers|See|Do|Over when)\b/gm)].map(
      ([, part]) => part,
    );
    expect([name, parts]).toEqual([name, ["For customers", "See", "Do", "Over when"]]);
  }
});

/** A queue that keeps what has been answered. */
async function queueAside({ stack }: Operator): Promise<string> {
  const { queueUrl } = await stack.queue.createQueues({
    name: "answered",
    visibilityTimeoutSeconds: 30,
    maxReceiveCount: 5,
  });
  return queueUrl;
}
