import { readdirSync } from "node:fs";
import { join } from "node:path";

import { Stripe } from "stripe";
import { expect, test } from "vitest";

import { startOperator, until } from "./operator.ts";

type Reconciliation = {
  records: number;
  intents: number;
  foreign: number;
  agree: number;
  findings: number;
  byKind: Record<string, number>;
  first: { messageId: string; kind: string; sentence: string; where?: string }[];
  repaired: { messageId: string; recorded: boolean; sentence: string }[];
};

// The local Stripe has no limit.
const RECONCILE = ["reconcile", "--rate", "50"] as const;

type Operator = Awaited<ReturnType<typeof startOperator>>;

function stripeOf({ stack }: Operator): Stripe {
  return new Stripe("sk_test_local", {
    protocol: "http",
    host: "127.0.0.1",
    port: stack.stripe.port,
  });
}

function chargeBeside(operator: Operator, metadata: Record<string, string>) {
  return stripeOf(operator).paymentIntents.create({
    amount: 1250,
    currency: "eur",
    customer: "cus_ada",
    payment_method: "pm_card_visa",
    confirm: true,
    off_session: true,
    metadata,
  });
}

/** A claim whose worker died before it could record anything. */
function dieHolding(operator: Operator, messageId: string): Promise<void> {
  return operator.put({
    messageId,
    status: "IN_PROGRESS",
    owner: "dead",
    leaseExpiresAt: Date.now() - 1_000,
    attempt: 1,
    firstClaimedAt: Date.now() - 60_000,
    fingerprint: "f",
    expiresAt: Math.ceil(Date.now() / 1_000) + 3_000_000,
  });
}

function reconciliationFolders({ folder }: Operator): string[] {
  return readdirSync(join(folder, ".local", "reconcile"));
}

test("a reconciliation of what fits finds nothing, and leaves nothing on disk", async () => {
  const operator = await startOperator();
  for (const id of ["order-1", "order-2", "order-3"]) await operator.send(id);
  await operator.send("order-4", { paymentMethod: "pm_card_chargeDeclined" });
  await operator.send("order-5", { paymentMethod: "pm_usBankAccount_success" });
  await operator.stack.drained(60_000);
  await chargeBeside(operator, { shop: "another" });

  const { code, stdout } = await operator.payments(...RECONCILE);

  expect(stdout).toMatch(
    /^5 records \(0 claims that nobody holds\) and 5 PaymentIntents of .+: 5 agree\.\n/,
  );
  expect(stdout).toContain("1 PaymentIntent without a message id: not this worker's.");
  expect(stdout).toContain("Nothing that does not fit.");
  expect(code).toBe(0);
  expect(reconciliationFolders(operator)).toEqual([]);
});

test("a reconciliation finds a charge whose record has no outcome, and repairs it as the worker would", async () => {
  const operator = await startOperator();
  await dieHolding(operator, "order-1");
  await chargeBeside(operator, { message_id: "order-1" });

  const found = await operator.payments(...RECONCILE);
  const [folder = ""] = reconciliationFolders(operator);
  const unconfirmed = await operator.payments(...RECONCILE, "--repair");
  const repaired = await operator.json<Reconciliation>(
    ...RECONCILE,
    "--resume",
    `.local/reconcile/${folder}`,
    "--repair",
    "--yes",
  );
  const after = await operator.payments(...RECONCILE);

  expect(found.stdout).toMatch(
    /\norder-1 +charged, not recorded +pi_\w+ is succeeded at Stripe, and not recorded\n/,
  );
  expect(found.stderr).toContain(`--resume .local/reconcile/${folder} --repair`);
  expect(found.code).toBe(3);
  expect(unconfirmed.code).toBe(2);
  expect(unconfirmed.stderr).toContain("Record 1 outcome? There is no terminal to ask at");
  expect(repaired.repaired).toMatchObject([{ messageId: "order-1", recorded: true }]);
  expect(await operator.record("order-1")).toMatchObject({
    status: "COMPLETED",
    attempt: 2,
    outcome: { result: "succeeded" },
  });
  expect(after).toMatchObject({ code: 0 });
  expect(operator.charges("order-1")).toBe(1);
});

test("a reconciliation finds a charge without any record, and repairs it so that a redelivery charges nobody", async () => {
  const operator = await startOperator();
  await operator.send("order-1");
  await operator.stack.drained(60_000);
  await operator.stack.table.deleteExpired(Date.now() / 1_000 + 4_000_000); // the table is lost

  const { repaired } = await operator.json<Reconciliation>(...RECONCILE, "--repair", "--yes");
  await operator.send("order-1");
  await until(() => operator.lines.length === 2);

  expect(repaired).toMatchObject([{ messageId: "order-1", recorded: true }]);
  expect(await operator.record("order-1")).toMatchObject({
    status: "COMPLETED",
    outcome: { result: "succeeded" },
  });
  expect(operator.stack.stripe.ledger.countsFor("order-1")).toMatchObject({ requests: 1 });
});

test("a reconciliation finds a payment that was charged twice, and does not offer to repair it", async () => {
  const operator = await startOperator();
  await operator.send("order-1");
  await operator.stack.drained(60_000);
  await chargeBeside(operator, { message_id: "order-1" });

  const { code, stdout, stderr } = await operator.payments(...RECONCILE, "--repair", "--yes");

  expect(stdout).toMatch(/\norder-1 +charged twice +CHARGED TWICE: pi_\w+ is succeeded and pi_/);
  expect(stderr).toContain("Nothing to repair");
  expect(code).toBe(3);
});

test("a reconciliation finds a recorded PaymentIntent that Stripe does not know, or knows as another", async () => {
  const operator = await startOperator();
  await operator.send("order-1");
  await operator.send("order-2");
  await operator.stack.drained(60_000);
  const elsewhere = { result: "succeeded", paymentIntentId: "pi_elsewhere" };
  await setOutcome(operator, "order-1", elsewhere);
  await dieHolding(operator, "order-3");
  await setOutcome(operator, "order-3", elsewhere);

  const reconciliation = await operator.json<Reconciliation>(...RECONCILE);

  expect(reconciliation.agree).toBe(1);
  expect(reconciliation.byKind).toEqual({ different: 1, not_at_stripe: 1 });
});

test("a reconciliation repairs nothing with what was charged before the claim: that was another payment", async () => {
  const operator = await startOperator();
  await chargeBeside(operator, { message_id: "order-1" });
  await dieHolding(operator, "order-1");
  const record = (await operator.record("order-1")) ?? {};
  await operator.put({ ...record, firstClaimedAt: Date.now() + 400_000 });

  const reconciliation = await operator.json<Reconciliation>(...RECONCILE, "--repair", "--yes");

  expect(reconciliation).toMatchObject({ byKind: { open: 1 }, repaired: [] });
});

test("a reconciliation finds an outcome that differs from Stripe's", async () => {
  const operator = await startOperator();
  await operator.send("order-1", { paymentMethod: "pm_card_chargeDeclined" });
  await operator.stack.drained(60_000);
  const outcome = (await operator.record("order-1"))?.["outcome"] as { paymentIntentId: string };
  await setOutcome(operator, "order-1", {
    result: "succeeded",
    paymentIntentId: outcome.paymentIntentId,
  });

  const { first } = await operator.json<Reconciliation>(...RECONCILE);

  expect(first).toMatchObject([{ messageId: "order-1", kind: "different" }]);
});

test("a reconciliation says where the message of a stuck claim is", async () => {
  const operator = await startOperator();
  const { dlqUrl } = operator.stack.queues;
  await operator.send("order-1", { customer: "cus_missing" });
  await operator.deadLetters(1);

  const dead = await operator.json<Reconciliation>(...RECONCILE);
  await operator.json("redrive", "--all", "--limit", "1", "--to", await aside(operator), "--yes");
  const gone = await operator.json<Reconciliation>(...RECONCILE);

  expect(dead.first).toMatchObject([
    {
      messageId: "order-1",
      kind: "open",
      where: expect.stringMatching(
        /^its message is in the dead-letter queue, stripe_rejected\/resource_missing: Mend at Stripe/,
      ) as string,
    },
  ]);
  expect(await operator.stack.queue.messages(dlqUrl)).toEqual([]);
  expect(gone.first).toMatchObject([
    { where: "its message is gone: the sender sends it again, with the same id" },
  ]);
});

test("a reconciliation leaves a claim alone that a worker holds", async () => {
  const operator = await startOperator({
    functionTimeoutMs: 60_000,
    env: { STRIPE_TIMEOUT_SECONDS: "20" },
  });
  const slow = Promise.withResolvers<void>();
  operator.stack.stripe.faults.add(
    { method: "POST" },
    { kind: "hook", at: "applied", run: () => slow.promise },
  );
  await operator.send("order-1");
  await until(() => operator.charges("order-1") === 1);

  const reconciliation = await operator.json<Reconciliation>(...RECONCILE, "--repair", "--yes");
  slow.resolve();

  expect(reconciliation).toMatchObject({ records: 1, intents: 1, findings: 0, repaired: [] });
});

test("an interrupted reconciliation goes on where it was", async () => {
  const operator = await startOperator();
  await operator.send("order-1");
  await operator.stack.drained(60_000);
  await chargeBeside(operator, { message_id: "order-2" });
  const slow = operator.stack.stripe.faults.add(
    { method: "GET", times: Infinity },
    { kind: "delayAfter", ms: 1_000 },
  );

  const { child, finished } = operator.command(...RECONCILE);
  await until(() => slow.happened() > 0);
  child.kill("SIGINT");
  const { code, stderr } = await finished;
  slow.remove();
  const scans = operator.stack.table.counts()["Scan"];
  const [, folder = ""] = /--resume (\S+)/.exec(stderr) ?? [];
  const resumed = await operator.json<Reconciliation>(...RECONCILE, "--resume", folder);

  expect(code).toBe(130);
  expect(resumed).toMatchObject({ records: 1, intents: 2, agree: 1, byKind: { not_recorded: 1 } });
  expect(operator.stack.table.counts()["Scan"]).toBe(scans);
});

test("a reconciliation waits when Stripe says that it is too fast", async () => {
  const operator = await startOperator();
  await operator.send("order-1");
  await operator.stack.drained(60_000);
  const limit = operator.stack.stripe.faults.add(
    { method: "GET" },
    { kind: "refuse", error: "rate_limit" },
  );

  const reconciliation = await operator.json<Reconciliation>(...RECONCILE);

  expect(limit.happened()).toBe(1);
  expect(reconciliation).toMatchObject({ agree: 1, findings: 0 });
});

test("a reconciliation with another account's key says so instead of reporting every payment", async () => {
  const operator = await startOperator();
  for (let n = 0; n < 20; n += 1) await operator.send(`order-${n}`);
  await operator.stack.drained(60_000);
  operator.running.env["STRIPE_API_KEY"] = "sk_test_another";
  operator.announce();

  const { code, stderr } = await operator.payments(...RECONCILE);

  expect(code).toBe(2);
  expect(stderr).toContain("is this the key of the right account");
});

test.each([
  [["--since", "yesterday"], "--since must be like 90m, 24h, 7d,"],
  [["--since", "2026-11-02", "--until", "2026-11-01"], "--since must be before --until."],
  [["--since", "36d"], "--since must be within 35 d: older payments have no record any more."],
  [["--rate", "0"], "--rate must be an integer from 1 to 100"],
  [["--resume", "nowhere"], "There is no reconciliation to resume in nowhere"],
])("reconciliation %j is called wrongly", async (args, sentence) => {
  const operator = await startOperator();

  const { code, stderr } = await operator.payments("reconcile", ...args);

  expect(code).toBe(2);
  expect(stderr).toContain(sentence);
});

async function setOutcome(operator: Operator, messageId: string, outcome: object): Promise<void> {
  const item = (await operator.record(messageId)) ?? {};
  await operator.put({ ...item, outcome });
}

async function aside({ stack }: Operator): Promise<string> {
  const { queueUrl } = await stack.queue.createQueues({
    name: "aside",
    visibilityTimeoutSeconds: 30,
    maxReceiveCount: 5,
  });
  return queueUrl;
}
