// The scheduled reconciliation, over HTTP: it finds what does not fit, moves forward what has been open
// for long, and changes nothing else.

import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { expect, test } from "vitest";

import { createDynamoDb } from "../../lib/aws/clients.ts";
import { recordReader } from "../../lib/aws/read-record.ts";
import { recordedOutcomes } from "../../lib/aws/recorded-outcomes.ts";
import { recordScanner } from "../../lib/aws/scan-records.ts";
import type { LogLine } from "../../lib/lambda/emf.ts";
import { createReconciliation } from "../../lib/lambda/reconciliation-handler.ts";
import { finalize } from "../../lib/payments/finalize.ts";
import { fixedKey } from "../../lib/stripe/api-key.ts";
import { paymentLister } from "../../lib/stripe/list-payments.ts";
import { stripePayments } from "../../lib/stripe/payments.ts";
import { payment, START, startWorker } from "../support/worker.ts";

const HOUR_MS = 3_600_000;

/** A worker, and the reconciliation on the same table and Stripe. */
async function prepare() {
  const worker = await startWorker();
  const { table, stripe, timings, clock } = worker;
  const dynamoDb = createDynamoDb({
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
    callTimeoutMs: timings.callTimeoutMs,
    endpoint: table.url,
  });
  const keys = fixedKey("sk_test_local");
  const base = new URL(stripe.url);
  const payments = stripePayments(keys, base);
  const records = recordedOutcomes(dynamoDb, "records");
  const lines: LogLine[] = [];
  const handle = createReconciliation({
    books: {
      ...paymentLister(keys, 3_000, base),
      records: recordScanner(dynamoDb, "records", 3_000),
      record: recordReader(dynamoDb, "records", 3_000),
      async finalize(id) {
        const retrieved = await payments.retrieve(id, 3_000);
        if (!("found" in retrieved)) return { decision: "unavailable" };
        return finalize(retrieved.found, records, clock.now, 3_000);
      },
    },
    functionName: "reconciliation",
    now: () => clock.now,
    write: (line) => lines.push(line),
  });
  return {
    ...worker,
    pay: worker.deliver,
    lines,
    run: async (remainingMs = 900_000) => {
      lines.length = 0;
      return handle({}, { awsRequestId: "run-1", getRemainingTimeInMillis: () => remainingMs });
    },
    put: async (Item: Record<string, unknown>) =>
      void (await dynamoDb.send(new PutCommand({ TableName: "records", Item }))),
    charge: (messageId: string) =>
      fetch(`${stripe.url}/v1/payment_intents`, {
        method: "POST",
        headers: { authorization: "Bearer sk_test_local" },
        body: new URLSearchParams({
          amount: "1200",
          currency: "eur",
          payment_method: "pm_card_visa",
          confirm: "true",
          off_session: "true",
          "metadata[message_id]": messageId,
        }),
      }),
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

test("a second charge, a charge without a record and an outcome that differs are found, each time", async () => {
  const { pay, charge, put, record, run, lines, clock } = await prepare();
  await pay(payment({ id: "twice" }), payment({ id: "differs" }));
  await charge("twice");
  await charge("no-record");
  const differs = await record("differs");
  const outcome = { ...(differs?.["outcome"] as object), result: "canceled" };
  await put({ ...differs, outcome });
  clock.now = START + 3 * HOUR_MS;
  for (const _ of ["once", "again"]) {
    expect(await run()).toMatchObject({ ...CLEAN, findings: 3, agree: 0 });
    const found = lines.flatMap(({ kind, messageId }) => (kind ? [[messageId, kind]] : []));
    expect(new Map(found as [string, string][])).toEqual(
      new Map([
        ["twice", "charged_twice"],
        ["no-record", "not_recorded"],
        ["differs", "different"],
      ]),
    );
    expect(lines.filter(({ DoubleCharge }) => DoubleCharge === 1)).toHaveLength(1);
  }
  expect(await record("no-record")).toBeUndefined(); // it repairs nothing
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
] as const)("while the %s is away there is no heartbeat", async (away, why) => {
  const { pay, run, lines, clock, ...servers } = await prepare();
  await pay(payment());
  clock.now = START + 3 * HOUR_MS;
  for (let attempt = 0; attempt < 6; attempt++) {
    servers[away].faults.add({}, { kind: "dropBefore" });
  }
  await expect(run()).rejects.toThrow(why);
  expect(lines).toEqual([]);
});

test("near its deadline it reports what it could not read again", async () => {
  const { pay, charge, run, clock } = await prepare();
  await pay(payment());
  await charge("no-record");
  clock.now = START + 3 * HOUR_MS;
  expect(await run(20_000)).toMatchObject({ findings: 0, unread: 1 });
});
