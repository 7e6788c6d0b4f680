// What a reconciliation keeps on disk.
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { removeOldFolders } from "../../cli/reconcile/checkpoint.ts";
import { openFindings } from "../../cli/reconcile/findings.ts";
import { openPartitions } from "../../cli/reconcile/partitions.ts";
import type { Finding } from "../../lib/reconcile/finding.ts";
import { newFolder } from "../support/command.ts";

test("what goes to disk comes back by message id, after half a line of a killed reconciliation too", async () => {
  const folder = newFolder();
  for (let part = 0; part < 256; part += 1) {
    writeFileSync(join(folder, `part-${part}.jsonl`), '{"what":"rec');
  }
  const partitions = openPartitions(folder);
  const messages = Array.from({ length: 1_000 }, (_, n) => `order-${n}`);
  for (const messageId of messages) {
    partitions.add({ what: "record", messageId, firstClaimedAt: 1, leaseExpiresAt: 0 });
    const money = { amount: 1_200, currency: "eur" };
    const state = { paymentIntentId: "pi_1", status: "succeeded", created: 1, ...money };
    partitions.add({ what: "intent", messageId, ...state });
  }
  await partitions.flush();

  const seen = new Map<string, string[]>();
  for (let part = 0; part < partitions.parts; part += 1) {
    const here: string[] = [];
    for await (const { messageId, what } of partitions.read(part))
      here.push(`${messageId} ${what}`);
    for (const entry of here) seen.set(entry, here);
  }

  expect(seen.size).toBe(2_000);
  // Both sides of a message are in one part, or they could not be compared.
  for (const id of messages) expect(seen.get(`${id} record`)).toBe(seen.get(`${id} intent`));
});

test("a finding comes back once, after half a line of a killed reconciliation too", async () => {
  const finding = (messageId: string): Finding => ({ messageId, kind: "open", atStripe: [] });
  const findings = openFindings(newFolder());
  await findings.add([finding("order-1")]);
  writeFileSync(findings.file, '{"messageId":"ord', { flag: "a" });
  await findings.add([finding("order-1"), finding("order-2")]);

  const read: Finding[] = [];
  for await (const one of findings.all()) read.push(one);

  expect(read).toEqual([finding("order-1"), finding("order-2")]);
});

test("only the folders that were used last are kept", async () => {
  const parent = newFolder();
  for (const [name, usedAt] of Object.entries({ oldest: 1, resumed: 4, older: 2, newest: 5 })) {
    mkdirSync(join(parent, name));
    writeFileSync(join(parent, name, "checkpoint.json"), "{}");
    utimesSync(join(parent, name), usedAt, usedAt);
  }

  await removeOldFolders(parent, 2);
  await removeOldFolders(join(parent, "nowhere"), 2);

  expect(readdirSync(parent).toSorted()).toEqual(["newest", "resumed"]);
});
