import { expect, onTestFinished, test } from "vitest";

import { outcomePublisher } from "../../local/parts.ts";
import { startOperator, until } from "./operator.ts";
import type { Operator } from "./operator.ts";

/** What the bus was sent, as it was sent. */
const details = ({ stack }: Operator): string[] =>
  stack.bus.bus.published().map(({ detail }) => JSON.stringify(detail));

const completed = (messageId: string) => ({
  messageId,
  status: "COMPLETED",
  outcome: { result: "succeeded", paymentIntentId: `pi_${messageId}` },
  completedAt: Date.now(),
  firstClaimedAt: Date.now(),
  revision: 1,
  amount: 1250,
  currency: "eur",
});

test("republished events are the publisher's, byte for byte", async () => {
  const operator = await startOperator({}, onTestFinished, [outcomePublisher()]);
  await operator.send("order-1");
  await operator.send("order-2", { paymentMethod: "pm_card_chargeDeclined" });
  await operator.send("order-3", { paymentMethod: "pm_usBankAccount_processing" });
  await operator.stack.drained(20_000);
  const published = details(operator);
  expect(published).toHaveLength(3);

  const listed = await operator.payments("republish", "--since", "1h", "--dry-run");
  expect(details(operator)).toHaveLength(3);
  expect(listed.stdout.split("\n").toSorted()).toEqual([
    "",
    "3 events would be published, to payment-outcomes",
    "order-1:1  payment.succeeded",
    "order-2:1  payment.declined",
    "order-3:1  payment.processing",
  ]);

  const { code, stdout } = await operator.payments("republish", "--since", "1h");
  expect([code, stdout]).toEqual([0, "3 events published, to payment-outcomes\n"]);
  expect(details(operator).slice(3).toSorted()).toEqual(published.toSorted());

  const none = await operator.payments("republish", "--since", "2099-01-01");
  expect(none.stdout).toBe("0 events published, to payment-outcomes\n");
});

test("an entry that fails is tried again alone, and what keeps failing is named", async () => {
  const operator = await startOperator();
  const { faults } = operator.stack.bus;
  for (const id of ["order-1", "order-2"]) await operator.put(completed(id));
  await operator.put({ messageId: "order-3", status: "IN_PROGRESS" });
  const ids = ["order-1", "order-2", "order-3"].flatMap((id) => ["--id", id]);

  faults.add({}, { kind: "failEntry", id: "order-2:1", code: "InternalFailure" });
  const once = await operator.payments("republish", ...ids);
  expect([once.code, once.stdout, once.stderr]).toEqual([
    3,
    "2 events published, to payment-outcomes\n",
    "no outcome: order-3\n",
  ]);
  expect(details(operator).map((one) => (JSON.parse(one) as { id: string }).id)).toEqual([
    "order-1:1",
    "order-2:1",
  ]);

  faults.add({ times: Infinity }, { kind: "failEntry", id: "order-2:1", code: "InternalFailure" });
  const always = await operator.json("republish", "--id", "order-1", "--id", "order-2");
  expect(always).toEqual({
    bus: "payment-outcomes",
    source: "urn:payment-worker:local",
    dryRun: false,
    interrupted: false,
    published: 1,
    failed: [{ messageId: "order-2", code: "InternalFailure" }],
    missing: [],
  });
});

test("Ctrl-C reports how many events were really published", async () => {
  const operator = await startOperator();
  const { bus } = operator.stack;
  for (let n = 0; n < 300; n++) await operator.put(completed(`order-${n}`));
  bus.faults.add({ times: Infinity }, { kind: "delayAfter", ms: 600 });

  const { child, finished } = operator.command("republish", "--since", "1h");
  await until(() => bus.bus.published().length > 10);
  child.kill("SIGINT");
  const { code, stdout } = await finished;

  const published = bus.bus.published().length;
  expect(published).toBeLessThan(100);
  expect([code, stdout]).toEqual([
    130,
    `interrupted: ${published} events published, to payment-outcomes\n`,
  ]);
});
