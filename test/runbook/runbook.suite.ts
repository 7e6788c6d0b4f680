// docs/runbook.md, carried out: each alarm is provoked as the page's table says, fires by its own definition,
// the section's commands run in their order, and it clears. Redrives and repairs get --yes, because there
// is no terminal.
import { expect, test } from "vitest";

import { BRISK, startOperator, until } from "../cli/operator.ts";
import type { Operator } from "../cli/operator.ts";
import { startSecret } from "../cli/secrets.ts";
import { PRACTICE, SECTIONS } from "./page.ts";
import { DEFINITIONS, runner, startPractice } from "./practice.ts";

const QUICK = { maxReceiveCount: 5, env: { BACKOFF_CAP_SECONDS: "1" } };

/** What the section's next command shows; where the table's commands end the alarm's cause; what is waited for. */
type Step = RegExp | "end" | ((operator: Operator) => Promise<unknown>);

type Scenario = {
  worker?: Parameters<typeof startOperator>[0];
  /** Whether a worker waits before anything comes. */
  warm?: true;
  /** How many of AWS's seconds one of the test's stands for. */
  speed?: number;
  /** After the alarm has fired. */
  steps: Step[];
  /** Of order-1, and of order-2. */
  charges?: number[];
};

const drained: Step = ({ stack }) => stack.drained(60_000);
const dead =
  (count: number): Step =>
  ({ deadLetters }) =>
    deadLetters(count);
const REDRIVEN = /order-1 .+ succeeded/;
const ASIDE = /1 message moved/;
const EMPTY = /The dead-letter queue is empty/;
const SUCCEEDED = /order-1 {2}charge succeeded/;
const AGREE = /record and Stripe agree/;

const ALARMS: Record<string, Scenario> = {
  DeadLetters: {
    worker: QUICK,
    steps: [
      dead(2),
      /1 message {3}stripe_unavailable\//,
      /order-2 .+ invalid\/currency/,
      /attempt 5 ended without one[^]+Stripe is not available/,
      "end",
      REDRIVEN,
      ASIDE,
      EMPTY,
    ],
    charges: [1, 0],
  },
  DeadLettersExpiring: {
    worker: QUICK,
    steps: [
      /order-1 +13 d +24 h .+stripe_unavailable/,
      "end",
      REDRIVEN,
      ({ send, stack }) => send("order-2", { currency: "xxx" }, stack.queues.dlqUrl),
      ASIDE,
      EMPTY,
      dead(0),
    ],
  },
  QueueAge: {
    steps: [/^/, /queue +1 visible, 0 in flight/, "end", drained, SUCCEEDED, /outcome +succeeded/],
  },
  KeepsFailing: {
    worker: { maxReceiveCount: 14, env: { BACKOFF_CAP_SECONDS: "2" } },
    speed: 60,
    steps: [
      /order-1 {2}no outcome yet: stripe_unavailable {2}.+, connection/,
      /last error +stripe_unavailable/,
      "end",
      drained,
      /outcome +succeeded/,
    ],
  },
  Conflicts: {
    steps: [dead(1), /1 message {3}conflict/, /succeeded, 500 eur/, "end", ASIDE, EMPTY],
  },
  InvalidMessages: {
    steps: [
      dead(2),
      /1 message {3}invalid\/currency/,
      /order-2 +back in the dead/, // nobody fixes that customer
      ASIDE,
      "end", // fixed, with the same id
      ({ charges }) => until(() => charges("order-1") === 1),
      AGREE,
      /order-2 .+stripe_rejected/,
    ],
  },
  ConfigurationErrors: {
    worker: QUICK,
    steps: [
      dead(1),
      /order-1 {2}Stripe refused the API key.+api_key_expired/,
      "end",
      REDRIVEN,
      SUCCEEDED,
      /outcome +succeeded/,
    ],
  },
  Takeovers: {
    worker: { maxReceiveCount: 14, env: { BACKOFF_CAP_SECONDS: "1" } },
    speed: 60,
    steps: [
      "end",
      drained,
      /order-1 {2}charge succeeded.+attempt (?:[2-9]|1\d)/,
      AGREE,
      /No differences/,
    ],
  },
  LeasesLost: {
    steps: [
      "end",
      drained,
      /another worker took the claim over.+ [\w-]{36}$/m,
      AGREE,
      /No differences/,
    ],
  },
  Throttles: {
    worker: { ...QUICK, visibilityTimeoutSeconds: 1 },
    steps: [dead(1), /1 message {3}unclaimed/, "end", REDRIVEN, EMPTY],
  },
  Errors: {
    worker: { ...QUICK, maxReceiveCount: 14, backoffMs: { base: 50, max: 300 } },
    speed: 150,
    steps: [
      dead(1),
      /order-1 {2}no outcome yet: stripe_unavail/,
      /released by its owner/,
      "end",
      REDRIVEN,
      AGREE,
      EMPTY,
    ],
  },
  NearTimeout: {
    warm: true,
    worker: {
      functionTimeoutMs: 7_000,
      visibilityTimeoutSeconds: 8,
      env: { CALL_TIMEOUT_SECONDS: "1", STRIPE_TIMEOUT_SECONDS: "1" },
    },
    steps: ["end", drained, SUCCEEDED, AGREE],
  },
  TableErrors: {
    worker: { ...QUICK, maxReceiveCount: 14, backoffMs: { base: 50, max: 300 } },
    speed: 150,
    steps: [
      dead(1),
      /order-1 {2}.*table_unavailable/,
      "end",
      /1 message {3}unclaimed/,
      REDRIVEN,
      AGREE,
      EMPTY,
    ],
  },
  NoSuccess: {
    speed: 60,
    steps: [
      drained,
      /order-1 {2}charge declined.+card_declined, insufficient_funds/,
      /insufficient_funds/,
      "end",
      drained,
      /order-2 {2}charge succeeded/,
    ],
    charges: [0, 1],
  },
  NoTraffic: {
    steps: [/NoTraffic[^]+queue/, /^/, "end", drained, SUCCEEDED],
  },
};

// They mostly wait for a queue: some at a time.
test.concurrent.for(Object.entries(ALARMS))(
  "%s fires when it is provoked, and its section's commands make it clear",
  async ([name, scenario], { onTestFinished }) => {
    const { worker = {}, warm, speed = 600, steps, charges = [1] } = scenario;
    const operator = await startOperator(worker, onTestFinished);
    const alarms = await startPractice(operator, worker, speed, onTestFinished);
    const run = runner(operator, await operator.queueAside());
    const { provoke = [], end = [] } = PRACTICE.get(name) ?? {};
    const fires = async () => (await alarms.states()).find((one) => one.name === name)?.fires;

    if (warm) operator.stack.worker.provision();
    for (const command of provoke) {
      // What the command acts on is there.
      if (command.endsWith(" age")) await operator.deadLetters(1);
      if (command.endsWith("--amount 700")) await operator.stack.drained(60_000);
      await run(command, /^/);
    }
    await until(async () => (await fires()) === true);
    const section = readSection(name);
    for (const step of steps) {
      if (step === "end") for (const command of end) await run(command, /^/);
      else if (step instanceof RegExp) await run(section.next(), step);
      else await step(operator);
    }

    await until(async () => (await fires()) === false);
    expect(section.left).toEqual([]);
    expect(charges.map((_, n) => operator.charges(`order-${n + 1}`))).toEqual(charges);
  },
);

/** The commands of a section, one after the other. */
function readSection(name: string) {
  const left = [...(SECTIONS.get(name)?.commands ?? [])];
  return { left, next: () => left.shift() ?? `echo There is no further command in ${name}` };
}

/** Runs the section's next commands. */
type See = (...shows: RegExp[]) => Promise<void>;

const PROCEDURES: Record<string, (operator: Operator, see: See) => Promise<void>> = {
  async "After an incident"({ stack, send, record, charges }, see) {
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
    await see(/order-1 +not recorded/, /order-1: recorded as succeeded/);
    expect(await record("order-1")).toMatchObject({ outcome: { result: "succeeded" } });
  },
  async "Restore the table"({ stack, send, record, charges, lines }, see) {
    // Stripe replaces the names of its test methods, so that one would be a conflict afterwards.
    const sent = { createdAt: new Date().toISOString(), paymentMethod: "pm_1AbCdEfGhIjKlMnO" };
    await send("order-1", sent);
    await stack.drained(60_000);
    const { expiresAt } = (await record("order-1")) ?? {};
    await stack.table.deleteExpired(Number(expiresAt) + 1); // restored to before it
    expect(await record("order-1")).toBeUndefined();
    await see(/order-1 +not recorded/, /order-1: recorded as succeeded/);
    const { requests } = stack.stripe.ledger.totals();
    await send("order-1", sent);
    await stack.drained(60_000);
    await see(AGREE, /No differences/);
    const asked = stack.stripe.ledger.requests().slice(requests);
    expect(asked.filter(({ method }) => method === "POST")).toEqual([]);
    expect(lines.at(-1)).toMatchObject({ decision: "duplicate" });
    expect(charges("order-1")).toBe(1);
  },
};

test.concurrent.for(Object.entries(PROCEDURES))(
  "the commands of the section %s do what it says",
  async ([name, play], { onTestFinished }) => {
    const operator = await startOperator(BRISK, onTestFinished);
    const run = runner(operator, "");
    const section = readSection(name);

    await play(operator, async (...shows) => {
      for (const show of shows) await run(section.next(), show);
    });

    expect(section.left).toEqual([]);
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
  const inA = runner(a, "");
  const inB = runner(b, "");
  const section = readSection("Another region");
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

  await inB(section.next(), /stripe_configuration/);
  secret.put("sk_test_local");
  await inB(section.next(), REDRIVEN);
  await inB(section.next(), AGREE);
  await b.send("order-2");
  await until(() => a.charges("order-2") === 1);
  await a.deadLetters(1);
  away.remove();
  await inA(section.next(), REDRIVEN);
  await inA(section.next(), /order-2: recorded as succeeded/);
  await inA(section.next(), /No differences/);

  expect([a.charges("order-1"), a.charges("order-2")]).toEqual([1, 1]);
  expect(section.left).toEqual([]);
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
