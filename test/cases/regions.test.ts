// Two regions: a worker, a queue and a table in each, and one Stripe. The table may have a replica in the
// other region, which is copied here item by item: the last write wins, as in an eventually consistent
// global table. What an operator does in each case: docs/runbook.md, "Another region".

import { expect, test } from "vitest";

import { createSecretsManager } from "../../lib/aws/clients.ts";
import { secretKeys } from "../../lib/stripe/api-key.ts";
import { startAwsJsonServer } from "../../local/aws-json-server.ts";
import { errorReply, okReply } from "../../local/aws-json.ts";
import { payment, START, startWorker } from "../support/worker.ts";
import type { WorkerOptions } from "../support/worker.ts";

const HOUR = 3_600_000;

type Worker = Awaited<ReturnType<typeof startWorker>>;

async function startRegions(b: WorkerOptions = {}) {
  const a = await startWorker();
  return { a, b: await startWorker({ ...b, shares: a }), clock: a.clock, stripe: a.stripe };
}

/** Region A is away from the charge on: neither its record nor its acknowledgement arrives. */
async function chargeAndLose(region: Worker, body: object): Promise<() => void> {
  const away = { operation: "UpdateItem", times: Infinity };
  const fault = region.table.faults.add(away, { kind: "dropBefore" });
  await region.send(body);
  await region.receive({ loseAcknowledgement: true });
  expect(region.stripe.ledger.charges()).toHaveLength(1);
  expect(await region.record("order-1001")).toMatchObject({ status: "IN_PROGRESS" });
  return () => fault.remove();
}

async function replicate(from: Worker, to: Worker): Promise<void> {
  for (const record of await from.records()) await to.put(record);
}

const methods = ({ stripe }: Worker) => stripe.ledger.requests().map(({ method }) => method);

test.each([
  ["at once", 0, "POST", { replayed: 1 }],
  ["25 hours later, it is looked up", 25, "GET", { replayed: 0 }],
])(
  "a payment that A charged and did not record is charged once when its sender sends it to B %s",
  async (_, hours, method, totals) => {
    const { a, b, clock, stripe } = await startRegions();
    await chargeAndLose(a, payment());
    clock.now = START + hours * HOUR;

    const sent = await b.deliver(payment());

    expect(sent.lines[0]).toMatchObject({
      decision: "completed",
      outcome: "succeeded",
      attempt: 1,
    });
    expect(methods(b)).toEqual(["POST", method]);
    expect(stripe.ledger.totals()).toMatchObject({ charges: 1, ...totals });
  },
);

test("A returns with its message: a duplicate where B's record has arrived, looked up where it has not", async () => {
  for (const replicated of [true, false]) {
    const { a, b, clock, stripe } = await startRegions();
    const back = await chargeAndLose(a, payment());
    await b.deliver(payment());
    clock.now = START + 30 * HOUR;
    if (replicated) await replicate(b, a);
    back();

    const returned = await a.redeliver();

    expect(returned.acknowledged).toHaveLength(1);
    expect(returned.lines[0]).toMatchObject(
      replicated
        ? { decision: "duplicate", outcome: "succeeded" }
        : { decision: "completed", outcome: "succeeded", lookedUp: true, attempt: 2 },
    );
    expect(stripe.ledger.charges()).toHaveLength(1);
    const [atA, atB] = await Promise.all([a.record("order-1001"), b.record("order-1001")]);
    expect(atA?.["outcome"]).toEqual(atB?.["outcome"]);
  }
});

test("a claim that is replicated ten minutes late, over B's outcome, charges nobody again", async () => {
  const { a, b, clock, stripe } = await startRegions();
  await chargeAndLose(a, payment());
  clock.now = START + 5 * 60_000;
  await b.deliver(payment());
  clock.now = START + 10 * 60_000;
  await replicate(a, b); // A's was the last write
  expect(await b.record("order-1001")).toMatchObject({ status: "IN_PROGRESS" });

  clock.now = START + 25 * HOUR;
  const again = await b.deliver(payment());

  expect(again.lines[0]).toMatchObject({ decision: "completed", lookedUp: true, takeover: true });
  expect(stripe.ledger.charges()).toHaveLength(1);
});

test("both regions at work on the same twenty ids charge each once, and acknowledge both messages", async () => {
  const { a, b, clock, stripe } = await startRegions();
  const ids = Array.from({ length: 20 }, (_, index) => `order-${index}`);
  for (const region of [a, b]) await region.send(...ids.map((id) => payment({ id })));

  let acknowledged = 0;
  while (acknowledged < 40) {
    const batches = await Promise.all([a.redeliver(), b.redeliver()]);
    for (const batch of batches) acknowledged += batch.acknowledged.length;
    clock.now += 61_000; // a claim that a busy machine could not complete in time expires
  }

  expect(stripe.ledger.charges()).toHaveLength(20);
  expect(ids.map((id) => stripe.ledger.countsFor(id).charges)).toEqual(Array(20).fill(1));
  for (const region of [a, b]) {
    const outcomes = (await region.records()).map(({ status }) => status);
    expect(outcomes).toEqual(Array(20).fill("COMPLETED"));
  }
});

// A table that was restored to before the claim: test/cases/lost-records.test.ts
test("a table that was restored to between a claim and its outcome charges nobody again", async () => {
  const { a, clock, stripe } = await startRegions();
  stripe.faults.add({ method: "POST" }, { kind: "storedErrorAfterCharge" });
  await a.deliver(payment());
  const backup = await a.records();
  clock.now = START + 25 * HOUR;
  await a.redeliver();
  expect(await a.record("order-1001")).toMatchObject({ status: "COMPLETED" });

  for (const record of backup) await a.put(record);
  const again = await a.deliver(payment());

  expect(again.lines[0]).toMatchObject({ decision: "completed", lookedUp: true, takeover: true });
  expect(stripe.ledger.charges()).toHaveLength(1);
});

test.each([
  ["20 days in the past", "2026-11-09T12:00:00Z", ["GET", "POST", "GET"]],
  ["five minutes in the future", "2026-11-29T12:05:00Z", ["POST", "GET"]],
])(
  "a sender's time forged %s charges once in both regions, 25 hours apart",
  async (_, createdAt, expected) => {
    const { a, b, clock, stripe } = await startRegions();
    await a.deliver(payment({ createdAt }));
    clock.now = START + 25 * HOUR;

    const sent = await b.deliver(payment({ createdAt }));

    expect(sent.lines[0]).toMatchObject({ decision: "completed", lookedUp: true });
    expect(methods(b)).toEqual(expected);
    expect(stripe.ledger.charges()).toHaveLength(1);
  },
);

test("a sender's time more than five minutes ahead is invalid in both regions, and charges nobody", async () => {
  const { a, b, stripe } = await startRegions();
  const forged = payment({ createdAt: "2026-11-29T12:05:01Z" });

  const delivered = [await a.deliver(forged), await b.deliver(forged)];

  expect(delivered.map(({ lines }) => lines[0]?.["decision"])).toEqual(["invalid", "invalid"]);
  expect(stripe.ledger.requests()).toEqual([]);
});

test("a region without the secret has configuration errors and loses nothing: it charges once the secret is there", async () => {
  let replicated = false;
  const secrets = await startAwsJsonServer({
    port: 0,
    now: Date.now,
    describe: () => ({}),
    answer: async () =>
      replicated
        ? okReply({ SecretString: "sk_test_local" })
        : errorReply(400, "ResourceNotFoundException", "Secrets Manager can't find the secret."),
  });
  const client = createSecretsManager({
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
    callTimeoutMs: 3_000,
    endpoint: secrets.url,
  });
  const { b, stripe } = await startRegions({ keys: secretKeys(client, "stripe", 3_000, Date.now) });

  const without = await b.deliver(payment(), payment({ id: "order-1002" }));
  replicated = true;
  const withIt = await b.redeliver();
  await secrets.stop();
  client.destroy();

  for (const line of without.lines) {
    expect(line).toMatchObject({
      level: "ERROR",
      decision: "transient",
      kind: "stripe_configuration",
      code: "ResourceNotFoundException",
      ConfigurationError: 1,
    });
  }
  expect(without.acknowledged).toEqual([]);
  expect(await b.queue.depth(b.dlqUrl)).toMatchObject({ visible: 0, inFlight: 0 });
  expect(withIt.acknowledged).toHaveLength(2);
  expect(stripe.ledger.charges()).toHaveLength(2);
});

test("two amounts under one id, one in each region, charge the first: the other is a conflict by Stripe's key", async () => {
  const { a, b, stripe } = await startRegions();
  await a.deliver(payment({ amount: 500 }));

  const other = await b.deliver(payment({ amount: 700 }));

  expect(other.lines[0]).toMatchObject({ decision: "conflict", kind: "stripe_conflict" });
  expect(stripe.ledger.charges()).toMatchObject([{ amount: 500 }]);
});
