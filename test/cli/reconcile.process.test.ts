import { readdirSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { startOperator, until } from "./operator.ts";
import type { Operator } from "./operator.ts";

type Reconciliation = {
  records: number;
  intents: number;
  agree: number;
  findings: number;
  byKind: Record<string, number>;
  first: { messageId: string; kind: string; next: string; where?: string }[];
  repaired: { messageId: string; recorded: boolean; sentence: string }[];
};

// The local Stripe has no limit.
const RECONCILE = ["reconcile", "--rate", "50"] as const;

/** A record as its worker left it when it died, but for `changes`. */
function record(messageId: string, changes: Record<string, unknown> = {}) {
  return {
    messageId,
    status: "IN_PROGRESS",
    owner: "dead",
    leaseExpiresAt: Date.now() - 1_000,
    attempt: 1,
    firstClaimedAt: Date.now() - 60_000,
    fingerprint: "f",
    expiresAt: Math.ceil(Date.now() / 1_000) + 3_000_000,
    ...changes,
  };
}

function reconciliationFolders({ folder }: Operator): string[] {
  return readdirSync(join(folder, ".local", "reconcile"));
}

// They mostly wait for processes and queues: some at a time.
test.concurrent("without differences it says so, leaves nothing on disk, and waits when Stripe says that it is too fast", async (context) => {
  const operator = await startOperator({}, context.onTestFinished);
  await operator.send("order-1");
  await operator.send("order-2", { paymentMethod: "pm_card_chargeDeclined" });
  await operator.send("order-3", { paymentMethod: "pm_usBankAccount_success" });
  await operator.stack.drained(60_000);
  await operator.charge({ shop: "another" });
  const limit = operator.stack.stripe.faults.add(
    { method: "GET" },
    { kind: "refuse", error: "rate_limit" },
  );

  const { code, stdout } = await operator.payments(...RECONCILE);

  expect(stdout).toMatch(
    /^3 records \(0 claims without a live lease\) and 3 PaymentIntents, .+: 3 agree\.\n/,
  );
  expect(stdout).toContain("1 PaymentIntent without a message id: another integration's.");
  expect(stdout).toContain("No differences.");
  expect(code).toBe(0);
  expect(limit.happened()).toBe(1);
  expect(reconciliationFolders(operator)).toEqual([]);
});

test.concurrent("each difference is shown with both sides and what to do, and only what is not recorded is repaired", async (context) => {
  const operator = await startOperator({}, context.onTestFinished);
  const { put, stack } = operator;
  const completed = (messageId: string, outcome: object) =>
    put(record(messageId, { status: "COMPLETED", outcome }));
  const id = (message_id: string, method?: string) => operator.charge({ message_id }, method);
  await put(record("no-outcome"));
  await id("no-outcome");
  await id("no-record");
  const first = await id("twice");
  await id("twice");
  await completed("twice", { result: "succeeded", paymentIntentId: first });
  await completed("elsewhere", { result: "succeeded", paymentIntentId: "pi_elsewhere" });
  const paid = await id("other-result");
  await completed("other-result", { result: "canceled", paymentIntentId: paid });
  const arrived = await id("arrived");
  await completed("arrived", { result: "processing", paymentIntentId: arrived });
  const failed = await id("failed", "pm_card_chargeDeclined");
  await completed("failed", { result: "processing", paymentIntentId: failed });
  await put(record("stuck"));
  await operator.send("stuck", {}, stack.queues.dlqUrl);
  await put(record("gone"));
  await id("at-work");
  await put(record("at-work", { leaseExpiresAt: Date.now() + 600_000 }));

  const { code, stdout, stderr } = await operator.payments(...RECONCILE);
  const [folder = ""] = reconciliationFolders(operator);
  const resume = [...RECONCILE, "--resume", `.local/reconcile/${folder}`, "--repair"];
  const unconfirmed = await operator.payments(...resume);
  const { repaired } = await operator.json<Reconciliation>(...resume, "--yes");
  const after = await operator.json<Reconciliation>(...RECONCILE);

  expect(stdout).toMatch(/\nno-outcome +not recorded +no outcome +succeeded pi_\w+\n/);
  expect(stdout).toMatch(/\nno-record +not recorded +no outcome +succeeded pi_\w+\n/);
  expect(stdout).toMatch(
    /\ntwice +charged twice +succeeded pi_\w+ +succeeded pi_\w+, succeeded pi_\w+\n/,
  );
  expect(stdout).toMatch(/\nelsewhere +not at Stripe +succeeded pi_elsewhere +nothing\n/);
  expect(stdout).toMatch(/\nother-result +different +canceled pi_\w+ +succeeded pi_\w+\n/);
  expect(stdout).toMatch(/\narrived +advanced +processing pi_\w+ +succeeded pi_\w+\n/);
  expect(stdout).toMatch(/\nstuck +stuck +no outcome +nothing\n/);
  expect(stdout).toMatch(
    /\nfailed +advanced, unpaid +processing pi_\w+ +declined \(card_declined, generic_decline\) pi_/,
  );
  expect(stdout).not.toContain("at-work");
  expect(stdout).toContain("\n1 charged twice. Refund all but one in Stripe's dashboard");
  expect(stdout).toContain("\n1 different. Stripe is right about the money.");
  expect(stdout).toContain("\n2 stuck. It was not charged");
  expect(stdout).toContain("\n  stuck: its message is in the dead-letter queue, conflict: ");
  expect(stdout).toContain(
    "\n  gone: its message is gone: the sender sends it again, with the same id\n",
  );
  expect(stderr).toContain(`--resume .local/reconcile/${folder} --repair`);
  expect(code).toBe(3);

  expect(unconfirmed.code).toBe(2);
  expect(unconfirmed.stderr).toContain("Record 2 outcomes? There is no terminal to ask at");
  expect(new Map(repaired.map(({ messageId, recorded }) => [messageId, recorded]))).toEqual(
    new Map([
      ["no-outcome", true],
      ["no-record", true],
    ]),
  );
  expect(await operator.record("no-outcome")).toMatchObject({
    status: "COMPLETED",
    attempt: 2,
    outcome: { result: "succeeded" },
  });
  expect(await operator.record("no-record")).toMatchObject({
    status: "COMPLETED",
    outcome: { result: "succeeded" },
  });
  expect(after.byKind).toEqual({
    charged_twice: 1,
    not_at_stripe: 1,
    different: 1,
    advanced: 1,
    advanced_unpaid: 1,
    open: 2,
  });
  expect([operator.charges("no-outcome"), operator.charges("no-record")]).toEqual([1, 1]);
});

test.concurrent("a payment whose record was lost is not charged again once it is repaired", async (context) => {
  const operator = await startOperator({}, context.onTestFinished);
  const own = { paymentMethod: "pm_1AbCdEfGhIjKlMnO" }; // Stripe replaces the names of its test methods
  await operator.send("order-1", own);
  await operator.stack.drained(60_000);
  await operator.stack.table.deleteExpired(Date.now() / 1_000 + 4_000_000); // the table is lost

  const { repaired } = await operator.json<Reconciliation>(...RECONCILE, "--repair", "--yes");
  await operator.send("order-1", own);
  await until(() => operator.lines.some(({ decision }) => decision === "duplicate"));

  expect(repaired).toMatchObject([{ messageId: "order-1", recorded: true }]);
  expect(operator.stack.stripe.ledger.countsFor("order-1")).toMatchObject({ requests: 1 });
});

test.concurrent("an interrupted reconciliation resumes where it was", async (context) => {
  const operator = await startOperator({}, context.onTestFinished);
  const paymentIntentId = await operator.charge({ message_id: "order-1" });
  const outcome = { result: "succeeded", paymentIntentId };
  await operator.put(record("order-1", { status: "COMPLETED", outcome }));
  await operator.charge({ message_id: "order-2" });
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

test.concurrent("with another account's key it says so instead of reporting every payment", async (context) => {
  const operator = await startOperator({}, context.onTestFinished);
  for (let n = 0; n < 20; n += 1) {
    const outcome = { result: "succeeded", paymentIntentId: `pi_${n}` };
    await operator.put(record(`order-${n}`, { status: "COMPLETED", outcome }));
  }

  const { code, stderr } = await operator.payments(...RECONCILE);

  expect(code).toBe(2);
  expect(stderr).toContain("is this the key of the right account");
});
