// docs/data.md: its commands, and what it says of the data that is kept.
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { startOperator } from "./operator.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const COMMANDS = [
  ...readFileSync(join(ROOT, "docs", "data.md"), "utf8").matchAll(/^ *npm run payments -- (.+)$/gm),
].map(([, command = ""]) => command);

const PERSONAL = {
  customer: "cus_ada",
  paymentMethod: "pm_card_visa",
  description: "For Ada",
  metadata: { name: "Lovelace" },
};
const TRACES = /cus_ada|pm_card_visa|For Ada|Lovelace/;

test("neither the record nor the log holds what names the customer", async () => {
  const operator = await startOperator({ maxReceiveCount: 2 });

  await operator.send("paid", PERSONAL);
  await operator.send("declined", { ...PERSONAL, paymentMethod: "pm_card_chargeDeclined" });
  await operator.send("rejected", { ...PERSONAL, customer: "cus_missing" });
  await operator.send("invalid", { ...PERSONAL, amount: -1 });
  await operator.stack.drained(20_000);

  const kept = await Promise.all(["paid", "declined", "rejected"].map((id) => operator.record(id)));
  expect(kept).toMatchObject([
    { outcome: { result: "succeeded" } },
    { outcome: { result: "declined" } },
    { lastError: { kind: "stripe_rejected" } },
  ]);
  expect(JSON.stringify(kept)).not.toMatch(/cus_missing|pm_card_chargeDeclined/);
  expect(JSON.stringify(kept)).not.toMatch(TRACES);
  const log = operator.lines.map((line) => JSON.stringify(line)).join("\n");
  for (const id of ["paid", "declined", "rejected", "invalid"]) expect(log).toContain(`"${id}"`);
  expect(log).not.toMatch(TRACES);
});

test("the page's commands find a message, set it aside, and compare the records with Stripe", async () => {
  const operator = await startOperator({ maxReceiveCount: 2 });
  const aside = await operator.queueAside();
  await operator.send("order-1", { ...PERSONAL, amount: -1 });
  await operator.deadLetters(1);

  const runs: { command: string; code: number | null; stdout: string }[] = [];
  for (const command of COMMANDS) {
    const args = command
      .split(" ")
      .map((arg) => arg.replace('"$ID"', "order-1").replace('"$ASIDE"', aside));
    const { code, stdout } = await operator.payments(
      ...args,
      ...(command.startsWith("redrive") ? ["--yes"] : []),
    );
    runs.push({ command, code, stdout });
  }

  expect(runs).toMatchObject([
    { command: "dlq", code: 0, stdout: expect.stringContaining("order-1") },
    { command: 'status "$ID"', code: 3, stdout: expect.stringContaining("dead-letter queue") },
    { command: 'redrive --reason invalid --to "$ASIDE"', code: 0 },
    { command: "reconcile --since 24h", code: 0 },
  ]);
  expect((await operator.stack.queue.depth(aside)).visible).toBe(1);
});
