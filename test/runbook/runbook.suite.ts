// docs/runbook.md, carried out: each alarm is provoked as the page's table says, fires by its own definition,
// the section's commands run in their order, and it clears. Redrives and repairs get --yes, because there
// is no terminal.
import { expect, test } from "vitest";

import { BRISK, startOperator, until } from "../cli/operator.ts";
import { startSecret } from "../cli/secrets.ts";
import { PRACTICE, SECTIONS } from "./page.ts";
import { DEFINITIONS, queueAside, runner, startPractice } from "./practice.ts";
import type { Operator, Run } from "./practice.ts";

const QUICK = { maxReceiveCount: 5, env: { BACKOFF_CAP_SECONDS: "1" } };

/** The commands of the table, and what comes of them: the alarm fires before `provoke` resolves. */
type Practice = { provoke: () => Promise<void>; end: () => Promise<void> };

type Scenario = {
  worker?: Parameters<typeof startOperator>[0];
  /** How many of AWS's seconds one of the test's stands for. */
  speed?: number;
  play: (operator: Operator, run: Run, practice: Practice) => Promise<void>;
};

const ALARMS: Record<string, Scenario> = {
  DeadLetters: {
    worker: QUICK,
    async play({ deadLetters, charges }, run, { provoke, end }) {
      await provoke();
      await deadLetters(2);
      await run("npm run payments -- dlq --summary", /1 message {3}stripe_unavailable\//);
      await run("npm run payments -- dlq", /order-2 .+ invalid\/currency/);
      await run(
        'npm run payments -- status "$ID" --stripe',
        /attempt 5 ended without one[^]+Stripe is not available/,
      );
      await end();
      await run("npm run payments -- redrive --reason stripe_unavailable", /order-1 .+ succeeded/);
      await run('npm run payments -- redrive --reason invalid --to "$ASIDE"', /1 message moved/);
      await run("npm run payments -- dlq", /The dead-letter queue is empty/);
      expect([charges("order-1"), charges("order-2")]).toEqual([1, 0]);
    },
  },
  DeadLettersExpiring: {
    worker: QUICK,
    async play({ stack, send, deadLetters, charges }, run, { provoke, end }) {
      await provoke();
      await run("npm run payments -- dlq", /order-1 +13 d +24 h .+stripe_unavailable/);
      await end();
      await run("npm run payments -- redrive --all --limit 10", /order-1 .+ succeeded/);
      await send("order-2", { currency: "xxx" }, stack.queues.dlqUrl);
      await run('npm run payments -- redrive --all --to "$ASIDE"', /1 message moved/);
      await run("npm run payments -- dlq", /The dead-letter queue is empty/);
      await deadLetters(0);
      expect(charges("order-1")).toBe(1);
    },
  },
  QueueAge: {
    async play({ stack, charges }, run, { provoke, end }) {
      await provoke();
      await run("npm run payments -- tail --since 15m", /^/);
      await run('npm run payments -- status "$ID"', /queue +1 visible, 0 in flight/);
      await end();
      await stack.drained(60_000);
      await run("npm run payments -- tail --since 1m", /order-1 {2}charge succeeded/);
      await run('npm run payments -- status "$ID"', /outcome +succeeded/);
      expect(charges("order-1")).toBe(1);
    },
  },
  KeepsFailing: {
    worker: { maxReceiveCount: 14, env: { BACKOFF_CAP_SECONDS: "2" } },
    speed: 60,
    async play({ stack, charges }, run, { provoke, end }) {
      await provoke();
      await run(
        "npm run payments -- tail --since 15m",
        /order-1 {2}no outcome yet: stripe_unavailable {2}.+, connection/,
      );
      await run('npm run payments -- status "$ID" --stripe', /last error +stripe_unavailable/);
      await end();
      await stack.drained(60_000);
      await run('npm run payments -- status "$ID"', /outcome +succeeded/);
      expect(charges("order-1")).toBe(1);
    },
  },
  Conflicts: {
    async play({ deadLetters, charges }, run, { provoke, end }) {
      await provoke();
      await deadLetters(1);
      await run("npm run payments -- dlq --summary", /1 message {3}conflict/);
      await run('npm run payments -- status "$ID" --stripe', /succeeded, 500 eur/);
      await end();
      await run('npm run payments -- redrive --reason conflict --to "$ASIDE"', /1 message moved/);
      await run("npm run payments -- dlq", /The dead-letter queue is empty/);
      expect(charges("order-1")).toBe(1);
    },
  },
  InvalidMessages: {
    async play({ deadLetters, charges }, run, { provoke, end }) {
      await provoke();
      await deadLetters(2);
      await run("npm run payments -- dlq --summary", /1 message {3}invalid\/currency/);
      // Nobody fixes that customer: it comes back.
      await run(
        "npm run payments -- redrive --reason stripe_rejected",
        /order-2 +back in the dead/,
      );
      await run('npm run payments -- redrive --reason invalid --to "$ASIDE"', /1 message moved/);
      await end(); // fixed, with the same id
      await until(() => charges("order-1") === 1);
      await run('npm run payments -- status "$ID" --stripe', /record and Stripe agree/);
      await run("npm run payments -- dlq", /order-2 .+stripe_rejected/);
    },
  },
  ConfigurationErrors: {
    worker: QUICK,
    async play({ deadLetters, charges }, run, { provoke, end }) {
      await provoke();
      await deadLetters(1);
      await run(
        "npm run payments -- tail --since 15m",
        /order-1 {2}Stripe refused the API key.+api_key_expired/,
      );
      await end();
      await run(
        "npm run payments -- redrive --reason stripe_configuration",
        /order-1 .+ succeeded/,
      );
      await run("npm run payments -- tail --since 1m", /order-1 {2}charge succeeded/);
      await run('npm run payments -- status "$ID"', /outcome +succeeded/);
      expect(charges("order-1")).toBe(1);
    },
  },
  Takeovers: {
    worker: { maxReceiveCount: 14, env: { BACKOFF_CAP_SECONDS: "1" } },
    speed: 60,
    async play({ stack, charges }, run, { provoke, end }) {
      await provoke();
      await end();
      await stack.drained(60_000);
      await run(
        "npm run payments -- tail --since 15m",
        /order-1 {2}charge succeeded.+attempt (?:[2-9]|1\d)/,
      );
      await run('npm run payments -- status "$ID" --stripe', /record and Stripe agree/);
      await run("npm run payments -- reconcile --since 1h", /No differences/);
      expect(charges("order-1")).toBe(1);
    },
  },
  LeasesLost: {
    async play({ stack, charges }, run, { provoke, end }) {
      await provoke();
      await end();
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
    worker: { ...QUICK, visibilityTimeoutSeconds: 1 },
    async play({ deadLetters, charges }, run, { provoke, end }) {
      await provoke();
      await deadLetters(1);
      await run("npm run payments -- dlq --summary", /1 message {3}unclaimed/);
      await end();
      await run("npm run payments -- redrive --reason unclaimed", /order-1 .+ succeeded/);
      await run("npm run payments -- dlq", /The dead-letter queue is empty/);
      expect(charges("order-1")).toBe(1);
    },
  },
  Errors: {
    worker: { ...QUICK, maxReceiveCount: 14, backoffMs: { base: 50, max: 300 } },
    speed: 150,
    async play({ deadLetters, charges }, run, { provoke, end }) {
      await provoke();
      await deadLetters(1);
      await run(
        "npm run payments -- tail --since 15m",
        /order-1 {2}no outcome yet: stripe_unavail/,
      );
      await run('npm run payments -- status "$ID"', /released by its owner/);
      await end();
      await run("npm run payments -- redrive --reason stripe_unavailable", /order-1 .+ succeeded/);
      await run('npm run payments -- status "$ID" --stripe', /record and Stripe agree/);
      await run("npm run payments -- dlq", /The dead-letter queue is empty/);
      expect(charges("order-1")).toBe(1);
    },
  },
  NearTimeout: {
    worker: {
      functionTimeoutMs: 7_000,
      visibilityTimeoutSeconds: 8,
      env: { CALL_TIMEOUT_SECONDS: "1", STRIPE_TIMEOUT_SECONDS: "1" },
    },
    async play({ stack, charges }, run, { provoke, end }) {
      stack.worker.provision();
      await provoke();
      await end();
      await stack.drained(60_000);
      await run("npm run payments -- tail --since 15m", /order-1 {2}charge succeeded/);
      await run('npm run payments -- status "$ID" --stripe', /record and Stripe agree/);
      expect(charges("order-1")).toBe(1);
    },
  },
  TableErrors: {
    worker: { ...QUICK, maxReceiveCount: 14, backoffMs: { base: 50, max: 300 } },
    speed: 150,
    async play({ deadLetters, charges }, run, { provoke, end }) {
      await provoke();
      await deadLetters(1);
      await run("npm run payments -- tail --since 15m", /order-1 {2}.*table_unavailable/);
      await end();
      await run("npm run payments -- dlq --summary", /1 message {3}unclaimed/);
      await run("npm run payments -- redrive --reason unclaimed", /order-1 .+ succeeded/);
      await run('npm run payments -- status "$ID" --stripe', /record and Stripe agree/);
      await run("npm run payments -- dlq", /The dead-letter queue is empty/);
      expect(charges("order-1")).toBe(1);
    },
  },
  NoSuccess: {
    speed: 60,
    async play({ stack, charges }, run, { provoke, end }) {
      await provoke();
      await stack.drained(60_000);
      await run(
        "npm run payments -- tail --since 15m",
        /order-1 {2}charge declined.+card_declined, insufficient_funds/,
      );
      await run('npm run payments -- status "$ID" --stripe', /insufficient_funds/);
      await end();
      await stack.drained(60_000);
      await run("npm run payments -- tail --since 1m", /order-2 {2}charge succeeded/);
      expect([charges("order-1"), charges("order-2")]).toEqual([0, 1]);
    },
  },
  NoTraffic: {
    async play({ stack, charges }, run, { provoke, end }) {
      await provoke();
      await run("npm run payments -- overview", /NoTraffic[^]+queue/);
      await run("npm run payments -- tail --since 2h", /^/);
      await end();
      await stack.drained(60_000);
      await run("npm run payments -- tail --since 1m", /order-1 {2}charge succeeded/);
      expect(charges("order-1")).toBe(1);
    },
  },
};

// They mostly wait for a queue: some at a time.
test.concurrent.for(Object.entries(ALARMS))(
  "%s fires when it is provoked, and its section's commands make it clear",
  async ([name, { worker = {}, speed = 600, play }], { onTestFinished }) => {
    const operator = await startOperator(worker, onTestFinished);
    const alarms = await startPractice(operator, worker, speed, onTestFinished);
    const run = runner(operator, await queueAside(operator));
    const typed = runner(operator, "");
    const practice = PRACTICE.get(name);
    const fires = async () => (await alarms.states()).find((one) => one.name === name)?.fires;

    await play(operator, run, {
      async provoke() {
        for (const command of practice?.provoke ?? []) {
          // What the command acts on is there.
          if (command.endsWith(" age")) await operator.deadLetters(1);
          if (command.endsWith("--amount 700")) await operator.stack.drained(60_000);
          await typed(command, /^/);
        }
        await until(async () => (await fires()) === true);
      },
      async end() {
        for (const command of practice?.end ?? []) await typed(command, /^/);
      },
    });

    await until(async () => (await fires()) === false);
    expect(run.commands).toEqual(SECTIONS.get(name)?.commands);
    expect(typed.commands).toEqual([...(practice?.provoke ?? []), ...(practice?.end ?? [])]);
  },
);

const PROCEDURES: Record<
  string,
  Omit<Scenario, "play"> & { play: (operator: Operator, run: Run) => Promise<void> }
> = {
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

test.concurrent.for(Object.entries(PROCEDURES))(
  "the commands of the section %s do what it says",
  async ([name, { worker = {}, play }], { onTestFinished }) => {
    const operator = await startOperator(worker, onTestFinished);
    const run = runner(operator, await queueAside(operator));

    await play(operator, run);

    expect(run.commands).toEqual(SECTIONS.get(name)?.commands);
  },
);

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

test("every alarm of the worker is provoked here, and every section is carried out", () => {
  const names = DEFINITIONS.filter(({ part }) => part === "PaymentWorker").map(({ name }) => name);
  expect(Object.keys(ALARMS)).toEqual(names);
  expect([...SECTIONS.keys()]).toEqual([
    ...names,
    ...Object.keys(PROCEDURES),
    "Another region",
    "Practice",
  ]);
});
