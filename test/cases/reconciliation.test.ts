// The scheduled reconciliation, over HTTP: it finds what does not fit, moves forward what has been open
// for long, and changes nothing else.

import { expect, onTestFinished, test } from "vitest";

import { recordReader } from "../../lib/aws/read-record.ts";
import { recordedOutcomes } from "../../lib/aws/recorded-outcomes.ts";
import { reportBucket } from "../../lib/aws/report-bucket.ts";
import { createS3 } from "../../lib/aws/s3-client.ts";
import { recordScanner } from "../../lib/aws/scan-records.ts";
import type { LogLine } from "../../lib/lambda/emf.ts";
import { createReconciliation } from "../../lib/lambda/reconciliation-handler.ts";
import type { ReconciliationEvent } from "../../lib/lambda/reconciliation-handler.ts";
import { finalize } from "../../lib/payments/finalize.ts";
import { fixedKey } from "../../lib/stripe/api-key.ts";
import { paymentLister } from "../../lib/stripe/list-payments.ts";
import { createPace } from "../../lib/stripe/pace.ts";
import { stripePayments } from "../../lib/stripe/payments.ts";
import { startObjects } from "../../local/objects/server.ts";
import { payment, START, startWorker } from "../support/worker.ts";

const HOUR_MS = 3_600_000;

/** A worker, and the reconciliation on the same table and Stripe. */
async function prepare() {
  const [worker, objects] = await Promise.all([startWorker(), startObjects()]);
  onTestFinished(() => objects.stop());
  const { stripe, clock, aws, documents: dynamoDb } = worker;
  const keys = fixedKey("sk_test_local");
  const base = new URL(stripe.url);
  const payments = stripePayments(keys, base);
  const records = recordedOutcomes(dynamoDb, "records");
  const lines: LogLine[] = [];
  const pauses: number[] = [];
  const pace = createPace(10_000, { wait: async (ms) => void pauses.push(ms) });
  const handle = createReconciliation({
    books: {
      ...paymentLister(keys, { timeoutMs: 3_000, pace, base }),
      records: recordScanner(dynamoDb, "records", 3_000),
      record: recordReader(dynamoDb, "records", 3_000),
      async finalize(id) {
        const retrieved = await payments.retrieve(id, 3_000);
        if (!("found" in retrieved)) return { decision: "unavailable" };
        return finalize(retrieved.found, records, clock.now, 3_000);
      },
    },
    reports: reportBucket(createS3({ ...aws, endpoint: objects.url }), "reports", 3_000),
    functionName: "reconciliation",
    now: () => clock.now,
    write: (line) => lines.push(line),
  });
  return {
    ...worker,
    objects,
    pay: worker.deliver,
    lines,
    pauses,
    /** The invocation, and what its last line says. `remaining` is asked for the time that is left. */
    run: async (event: ReconciliationEvent = { now: true }, remaining = () => 900_000) => {
      lines.length = 0;
      const context = { awsRequestId: "run-1", getRemainingTimeInMillis: remaining };
      const ended = await handle(event, context);
      return { ...lines.at(-1), ...ended };
    },
    /** The findings of the last invocation, by message id. */
    found: () => new Map(lines.flatMap(({ kind, messageId }) => (kind ? [[messageId, kind]] : []))),
    report: (): Record<string, unknown> => {
      const [name] = [...objects.objects.keys()]
        .filter((key) => key.includes("/reports/"))
        .slice(-1);
      return JSON.parse(objects.objects.get(name ?? "") ?? "{}") as Record<string, unknown>;
    },
    checkpoint: () => JSON.parse(objects.objects.get("reports/checkpoint.json") ?? "{}") as object,
    charge: (messageId: string) => worker.chargeElsewhere({ "metadata[message_id]": messageId }),
  };
}

const CLEAN = { findings: 0, openTooLong: 0, advanced: 0, unread: 0 };

test("records that agree with Stripe are counted, and the run is its own heartbeat", async () => {
  const { pay, run, lines, clock } = await prepare();
  await pay(payment({ id: "a" }), payment({ id: "b", paymentMethod: "pm_card_chargeDeclined" }));
  clock.now = START + 3 * HOUR_MS;
  expect(await run()).toMatchObject({ ...CLEAN, agree: 2, records: 2, intents: 2 });
  expect(lines).toMatchObject([
    { level: "INFO", message: "reconciliation done", Reconciled: 1, requestId: "run-1" },
  ]);
});

test("what is not in its window yet, or no longer, is left alone", async () => {
  const { pay, charge, run, clock } = await prepare();
  await pay(payment());
  await charge("without-a-record");
  clock.now = START + HOUR_MS;
  expect(await run()).toMatchObject({ ...CLEAN, agree: 0 });
  clock.now = START + 27 * HOUR_MS;
  expect(await run()).toMatchObject({ ...CLEAN, agree: 0 });
});

test("each difference is found, each time, with both sides and what to do", async () => {
  const { pay, charge, put, record, stripe, run, found, report, lines, clock } = await prepare();
  const ids = ["twice", "differs", "less", "renamed", "another-customer"];
  await pay(...ids.map((id) => payment({ id })));
  const intentOf = (id: string) => stripe.ledger.chargesFor(id)[0]?.paymentIntent ?? "";
  await charge("twice");
  await charge("no-record");
  const differs = await record("differs");
  const outcome = { ...(differs?.["outcome"] as object), result: "canceled" };
  await put({ ...differs, outcome });
  await put({ ...(await record("less")), amount: 1_199 });
  stripe.edit(intentOf("renamed"), { metadata: { message_id: "new-name" } });
  stripe.edit(intentOf("another-customer"), { customer: "cus_eve" });
  clock.now = START + 3 * HOUR_MS;
  for (const _ of ["once", "again"]) {
    expect(await run()).toMatchObject({ ...CLEAN, findings: 7, agree: 0 });
    expect(found()).toEqual(
      new Map<unknown, unknown>([
        ["twice", "charged_twice"],
        ["no-record", "not_recorded"],
        ["differs", "different"],
        ["less", "amount_differs"],
        ["renamed", "edited"],
        ["new-name", "edited"],
        ["another-customer", "edited"],
        [undefined, "sums_differ"],
      ]),
    );
    expect(lines.filter(({ ReconciliationFinding }) => ReconciliationFinding === 1)).toHaveLength(
      8,
    );
    expect(lines.filter(({ DoubleCharge }) => DoubleCharge === 1)).toHaveLength(1);
  }
  expect(JSON.stringify([...lines, report()])).not.toMatch(/cus_/);
  expect(lines.find(({ messageId }) => messageId === "another-customer")).toMatchObject({
    atStripe: [{ messageIdCharged: "another-customer", customerChanged: true }],
  });
  // It repairs nothing, also not under an id that somebody wrote into a PaymentIntent.
  expect(await record("no-record")).toBeUndefined();
  expect(await record("new-name")).toBeUndefined();
  expect(lines.find(({ messageId }) => messageId === "less")).toMatchObject({
    level: "ERROR",
    recorded: { result: "succeeded", amount: 1_199, currency: "eur" },
    atStripe: [{ paymentIntentId: intentOf("less"), amount: 1_200, inBalance: { amount: 1_200 } }],
    next: expect.stringContaining("Stripe is right about the money") as string,
  });
});

test("a PaymentIntent whose message id was edited by hand is reported under both, and how to set it back", async () => {
  const { pay, stripe, run, lines, clock } = await prepare();
  await pay(payment());
  const [intent] = stripe.paymentIntents();
  stripe.edit(intent?.id ?? "", { metadata: {} });
  clock.now = START + 3 * HOUR_MS;
  expect(await run()).toMatchObject({ findings: 1 });
  expect(lines[0]).toMatchObject({
    kind: "edited",
    messageId: "order-1001",
    recorded: { paymentIntentId: intent?.id },
    atStripe: [{ messageIdNow: undefined, messageIdCharged: "order-1001", customerChanged: false }],
    next: expect.stringContaining("Set it back to what its charge has") as string,
  });
  stripe.edit(intent?.id ?? "", { metadata: { message_id: "order-1001" } });
  expect(await run()).toMatchObject({ ...CLEAN, agree: 1 });
});

test("the sums of a day are those of Stripe's balance, whatever settles later, fails or is paid back", async () => {
  const { pay, stripe, run, report, clock } = await prepare();
  stripe.balance.settleIn("gbp", "eur", 1.25);
  const bank = { paymentMethod: "pm_usBankAccount_success", currency: "usd", amount: 700 };
  await pay(
    payment({ id: "card" }),
    payment({ id: "declined", paymentMethod: "pm_card_chargeDeclined" }),
    payment({ id: "pounds", currency: "gbp", amount: 1_000 }),
    payment({ id: "waits", ...bank }),
    payment({ id: "bounces", ...bank }),
  );
  const intentOf = (id: string) => stripe.ledger.chargesFor(id)[0]?.paymentIntent ?? "";
  stripe.refund(intentOf("card"), 200);
  stripe.step(intentOf("bounces"), "fail");
  clock.now = START + 3 * HOUR_MS;
  expect(await run()).toMatchObject({ ...CLEAN, agree: 4, advanced: 1 });
  const sums = {
    eur: { count: 1, amount: 1_200 },
    gbp: { count: 1, amount: 1_000 },
    usd: { count: 2, amount: 1_400 },
  };
  expect(report()).toMatchObject({
    balance: {
      recorded: sums,
      inBalance: sums,
      settled: {
        eur: { count: 2, amount: 2_450, fee: 131, net: 2_319 },
        usd: { count: 2, amount: 1_400, fee: 100, net: 1_300 },
      },
      other: {
        refund: { eur: { count: 1, amount: -200 } },
        charge_failure: { usd: { count: 1, amount: -700 } },
      },
      differences: [],
    },
    findings: [],
  });
});

test("a payment that is not in Stripe's balance is a finding two hours after it, and makes the sums differ", async () => {
  const { pay, stripe, run, found, lines, clock } = await prepare();
  await pay(payment());
  stripe.balance.setLag(Infinity);
  clock.now = START + 60_000;
  expect(await run({ now: true, delaySeconds: 1 })).toMatchObject(CLEAN);
  clock.now = START + 3 * HOUR_MS;
  await run();
  expect(found().get("order-1001")).toBe("balance_differs");
  expect(lines.find(({ SumsDiffer }) => SumsDiffer === 1)).toMatchObject({
    kind: "sums_differ",
    currency: "eur",
    recorded: 1_200,
    inBalance: 0,
    next: expect.stringContaining("ask Stripe's support") as string,
  });
});

test("a bank debit whose event was lost is moved forward, and one that is open for weeks is reported", async () => {
  const { pay, record, stripe, run, lines, clock } = await prepare();
  const paymentMethod = "pm_usBankAccount_success";
  await pay(payment({ id: "lost-event", paymentMethod }), payment({ id: "slow", paymentMethod }));
  const [first] = stripe.paymentIntents();
  stripe.step(first?.id ?? "", "succeed");
  clock.now = START + 59 * 60_000;
  expect(await run()).toMatchObject({ advanced: 0, openTooLong: 0 });
  clock.now = START + 20 * 24 * HOUR_MS;
  expect(await run()).toMatchObject({ advanced: 1, openTooLong: 1 });
  const { metadata } = first ?? {};
  expect(await record(metadata?.["message_id"] ?? "")).toMatchObject({
    outcome: { result: "succeeded" },
    revision: 2,
  });
  expect(lines.filter(({ OpenTooLong }) => OpenTooLong === 1)).toHaveLength(1);
  expect(await run()).toMatchObject({ advanced: 0, openTooLong: 1 });
});

test("a claim from before the window is searched for at Stripe, and is stuck only when it was not charged", async () => {
  const { charge, put, run, found, clock } = await prepare();
  const claim = { status: "IN_PROGRESS", owner: "dead", leaseExpiresAt: 0, attempt: 1 };
  await charge("charged");
  for (const messageId of ["charged", "stuck"]) {
    await put({ ...claim, messageId, firstClaimedAt: START, fingerprint: "f" });
  }
  clock.now = START + 30 * HOUR_MS;
  // Between two tries, perhaps.
  await put({
    ...claim,
    messageId: "young",
    firstClaimedAt: clock.now - HOUR_MS,
    fingerprint: "f",
  });
  await run();
  expect(found()).toEqual(
    new Map([
      ["charged", "not_recorded"],
      ["stuck", "open"],
    ]),
  );
});

test("two runs at once report the same and change nothing twice", async () => {
  const { pay, record, stripe, run, clock } = await prepare();
  await pay(payment({ paymentMethod: "pm_usBankAccount_success" }));
  stripe.step(stripe.paymentIntents()[0]?.id ?? "", "succeed");
  clock.now = START + 3 * HOUR_MS;
  await Promise.all([run(), run()]);
  expect(await record("order-1001")).toMatchObject({ revision: 2 });
});

test.each([
  ["table", "socket hang up"],
  ["stripe", "stripe_unavailable"],
  ["objects", "socket hang up"],
] as const)("while the %s is away there is no heartbeat", async (away, why) => {
  const { pay, run, lines, clock, ...servers } = await prepare();
  await pay(payment());
  clock.now = START + 3 * HOUR_MS;
  servers[away].faults.add({ times: 6 }, { kind: "dropBefore" });
  await expect(run()).rejects.toThrow(why);
  expect(lines).toEqual([]);
});

test("Stripe's 429 makes it wait, longer each time, and is no finding", async () => {
  const { pay, run, pauses, stripe, clock } = await prepare();
  await pay(payment());
  clock.now = START + 3 * HOUR_MS;
  const where = { path: "/v1/balance_transactions", times: 3 };
  stripe.faults.add(where, { kind: "refuse", error: "rate_limit" });
  expect(await run()).toMatchObject({ ...CLEAN, agree: 1 });
  const long = pauses.filter((ms) => ms > 500).map((ms) => Math.round(ms / 500) / 2);
  expect(long).toEqual([1, 2, 4]);
});

test("a key that may not read the balance compares all else, and says so", async () => {
  const { pay, stripe, run, report, lines, clock } = await prepare();
  await pay(payment());
  const path = "/v1/balance_transactions";
  stripe.faults.add({ path, times: Infinity }, { kind: "refuse", error: "forbidden" });
  clock.now = START + 3 * HOUR_MS;
  expect(await run()).toMatchObject({ ...CLEAN, agree: 1, balanceRead: false });
  expect(lines[0]).toMatchObject({ level: "WARN", message: "balance not read" });
  expect(report()).toMatchObject({ balance: "not read: the Stripe key may not" });
});

/** Five payments, a second apart, of which two were charged again by somebody. */
async function prepareSlices() {
  const prepared = await prepare();
  const { pay, charge, clock } = prepared;
  for (const id of ["a", "b", "c", "d", "e"]) {
    clock.now += 1_000;
    await pay(payment({ id }));
    if (id === "b" || id === "d") await charge(id);
  }
  clock.now = START + 3 * HOUR_MS;
  const { objects } = prepared.objects;
  /** Time for a single slice: it is up when the checkpoint is kept. */
  const oneSlice = () => {
    const kept = objects.get("reports/checkpoint.json");
    return () => (objects.get("reports/checkpoint.json") === kept ? 900_000 : 29_000);
  };
  return { ...prepared, oneSlice };
}

const SLICED = { now: true, slicePayments: 2 };

test("what one invocation has no time for, the next go on with, and together they find the same", async () => {
  const { run, oneSlice, found, report, lines, clock } = await prepareSlices();
  expect(await run(SLICED)).toMatchObject({ done: true, agree: 3, findings: 2, intents: 7 });
  const whole = report();
  const all = [...found()];
  expect(all).toContainEqual(["b", "charged_twice"]);

  const together: unknown[] = [];
  let invocations = 1;
  while (!(await run(SLICED, oneSlice())).done) {
    expect(lines.at(-1)).toMatchObject({ message: "reconciliation continues" });
    together.push(...found());
    clock.now += 900_000;
    if ((invocations += 1) > 9) throw new Error("It does not come to an end.");
  }
  together.push(...found());
  expect(invocations).toBe(3);
  expect(new Set(together)).toEqual(new Set(all));
  expect(report()).toEqual({ ...whole, finishedAt: report()["finishedAt"] });
});

test("one that was killed between two slices is gone on with, and finds the same", async () => {
  const { run, report, table, clock } = await prepareSlices();
  await run(SLICED);
  const whole = report();
  let scans = 0;
  const second = () => (scans += 1) > 1;
  table.faults.add({ operation: "Scan", where: second, times: 3 }, { kind: "dropBefore" });
  await expect(run(SLICED)).rejects.toThrow("socket hang up");
  clock.now += 900_000;
  expect(await run({})).toMatchObject({ done: true });
  expect(report()).toEqual({ ...whole, finishedAt: "2026-11-29T15:15:00.000Z" });
});

test("a run begins an hour after the last, and a schedule that comes earlier does nothing", async () => {
  const { pay, run, lines, stripe, clock } = await prepare();
  await pay(payment());
  clock.now = START + 3 * HOUR_MS;
  expect(await run({})).toMatchObject({ done: true });
  const requests = stripe.ledger.totals().requests;
  for (const minutes of [15, 30, 45]) {
    clock.now = START + 3 * HOUR_MS + minutes * 60_000;
    expect(await run({})).toEqual({ done: false });
    expect(lines).toEqual([]);
  }
  expect(stripe.ledger.totals().requests).toBe(requests);
  clock.now = START + 4 * HOUR_MS;
  expect(await run({})).toMatchObject({ done: true });
});

test.each([
  ["no JSON", () => "{", "it is no JSON object"],
  ["an earlier version's", () => '{"version":0}', "another version's: 0, not 1"],
  [
    "damaged",
    (kept: object) => JSON.stringify({ ...kept, run: { until: 1 } }),
    "its run is not whole",
  ],
  ["stale", (kept: object) => JSON.stringify(kept), "is 7 hours old"],
])(
  "a checkpoint that is %s is ignored with a sentence, and all is read again",
  async (what, of, why) => {
    const { run, oneSlice, objects, checkpoint, lines, clock } = await prepareSlices();
    await run(SLICED, oneSlice());
    objects.put("reports/checkpoint.json", of(checkpoint()));
    if (what === "stale") clock.now += 6.5 * HOUR_MS;
    expect(await run({})).toMatchObject({ done: true, intents: 7, findings: 2 });
    expect(lines[0]).toMatchObject({ level: "WARN", message: "checkpoint ignored" });
    expect(lines[0]?.["reason"]).toContain(why);
  },
);

test("so many records that Stripe does not know, and nothing else there, is another account's key", async () => {
  const { put, run, clock } = await prepare();
  for (let n = 0; n < 20; n++) {
    const outcome = { result: "succeeded", paymentIntentId: `pi_${n}` };
    const record = { messageId: `order-${n}`, status: "COMPLETED", leaseExpiresAt: 0, outcome };
    await put({ ...record, firstClaimedAt: START });
  }
  clock.now = START + 3 * HOUR_MS;
  await expect(run()).rejects.toThrow("is this the key of the right account");
});
