// node bench/reconcile.ts [records]: how long a reconciliation takes and how much memory it needs, over that
// many records (30,000) and PaymentIntents of half a day, with a few differences. The function as it is
// deployed, whole and killed after its first slice; then `payments reconcile`, once as it is and once with a
// heap too small for them: V8 leaves garbage where there is room, so only that run shows what it needs.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { reconciliation } from "../local/parts.ts";
import { paymentWorker } from "../local/payment-worker.ts";
import { REPORT_BUCKET } from "../local/servers.ts";
import { startStack } from "../local/stack.ts";
import { build } from "../scripts/build.ts";

const SPAN_MS = 12 * 3_600_000;
const SMALL_HEAP = ["--max-old-space-size=64", "--max-semi-space-size=4"];
const AT_ONCE = 16;
const UNRECORDED = 7;
const STUCK = 5;

const count = Number(process.argv[2] ?? 30_000);
const startedAt = Date.now();
// Stripe's clock runs through these hours while the PaymentIntents are made.
let clock = startedAt - SPAN_MS + 60_000;
await build();
const stack = await startStack({
  functions: [paymentWorker(), reconciliation()],
  now: () => clock,
});
const { table, stripe, objects, tableName, queues } = stack;
const folder = mkdtempSync(join(tmpdir(), "payment-worker-reconciliation-"));
try {
  const prepared = performance.now();
  record(await charge());
  console.log(
    `${count} PaymentIntents and ${count} records made in ${seconds(prepared)} s; reconciling …`,
  );
  mkdirSync(join(folder, ".local"));
  const running = {
    pid: process.pid,
    endpoints: { table: table.url, queue: stack.queue.url, stripe: stripe.url },
    tableName,
    ...queues,
    logFile: "",
    env: stack.worker.env,
  };
  writeFileSync(join(folder, ".local", "stack.json"), JSON.stringify(running));
  await inFunction();
  for (const flags of [[], SMALL_HEAP]) {
    const { findings, byKind, seconds, megabytes } = await inCommand(flags);
    if (findings !== UNRECORDED + STUCK || byKind["not_recorded"] !== UNRECORDED) {
      throw new Error(
        `The reconciliation found ${findings} and should have found ${UNRECORDED + STUCK}.`,
      );
    }
    console.log(
      `${count} records and ${count} PaymentIntents${flags.length > 0 ? " in a heap of 64 MB" : ""}: ${seconds} s, at most ${megabytes} MB of memory`,
    );
  }
  console.log(
    `Limits: one machine runs the reconciliation, the table and Stripe; at the default pace of 5 requests per second instead of 100, ${Math.ceil(count / 100 / 5 / 60)} min more.`,
  );
} finally {
  await stack.stop();
  rmSync(folder, { recursive: true });
}

/** The function, in slices of a third: whole, then killed after the first and gone on with. */
async function inFunction(): Promise<void> {
  const lambda = stack.functions.find(({ name }) => name === "reconciliation");
  if (!lambda) throw new Error("Bug! The stack has no reconciliation.");
  let pid: number | undefined;
  stack.feed.subscribe((event) => {
    if (event.type === "environment started" && event.function === lambda.name) ({ pid } = event);
  });
  const input = { now: true, delaySeconds: 0, slicePayments: Math.ceil(count / 3) };
  const run = async () => {
    const began = performance.now();
    let megabytes = 0;
    const watch = setInterval(() => (megabytes = peakMegabytes(pid) ?? megabytes), 100);
    const result = await lambda.invoke(input);
    clearInterval(watch);
    const { done, findings } = (
      result.ok ? JSON.parse(result.payload) : { done: false, findings: 0 }
    ) as { done: boolean; findings: number };
    if (result.ok && (!done || findings !== UNRECORDED + STUCK)) {
      throw new Error(`It found ${findings} and should have found ${UNRECORDED + STUCK}.`);
    }
    return `${seconds(began)} s, at most ${megabytes} MB of memory${result.ok ? `, ${findings} findings` : ""}`;
  };
  console.log(`function, in 3 slices: ${await run()}`);
  objects.faults.add(
    { method: "PUT", key: `${REPORT_BUCKET}/checkpoint.json` },
    { kind: "hook", at: "applied", run: () => void lambda.kill() },
  );
  console.log(`function, killed after its first slice: ${await run()}`);
  console.log(`function, gone on with: ${await run()}`);
}

type Result = {
  findings: number;
  byKind: Record<string, number>;
  seconds: number;
  megabytes: number;
};

async function inCommand(flags: readonly string[]): Promise<Result> {
  const command = join(import.meta.dirname, "..", "cli", "payments.ts");
  const child = spawn(
    process.execPath,
    [...flags, command, "reconcile", "--rate", "100", "--json"],
    { cwd: folder, stdio: ["ignore", "pipe", "ignore"] },
  );
  // Its own figure would be this process's, from before it became another: Linux hands that on.
  let peak: number | undefined;
  const watch = setInterval(() => (peak = peakMegabytes(child.pid) ?? peak), 100);
  let stdout = "";
  child.stdout.on("data", (chunk: Buffer) => void (stdout += chunk.toString()));
  await once(child, "close");
  clearInterval(watch);
  const result = JSON.parse(stdout) as Result;
  return { ...result, megabytes: peak ?? result.megabytes };
}

/** The most memory that a process has had so far; undefined where there is no /proc. */
function peakMegabytes(pid: number | undefined): number | undefined {
  try {
    const [, kilobytes] =
      /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return kilobytes === undefined ? undefined : Math.round(Number(kilobytes) / 1_024);
  } catch {
    return undefined;
  }
}

/** The ids of as many PaymentIntents; the first STUCK messages get none. */
async function charge(): Promise<string[]> {
  const step = (SPAN_MS - 120_000) / count;
  const ids: string[] = [];
  let next = 0;
  const turn = async (): Promise<void> => {
    while (next < count) {
      const n = next;
      next += 1;
      clock += step;
      ids[n] = n < STUCK ? "" : await createIntent(n);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, turn));
  return ids;
}

async function createIntent(n: number): Promise<string> {
  const body = `amount=1250&currency=eur&customer=cus_ada&payment_method=pm_card_visa&confirm=true&off_session=true&metadata[message_id]=order-${n}`;
  const headers = {
    authorization: "Bearer sk_test_local",
    "content-type": "application/x-www-form-urlencoded",
  };
  const response = await fetch(`${stripe.url}/v1/payment_intents`, {
    method: "POST",
    headers,
    body,
  });
  return ((await response.json()) as { id: string }).id;
}

/** A record for each; the first STUCK + UNRECORDED are expired claims. */
function record(intents: readonly string[]): void {
  for (const [n, paymentIntentId] of intents.entries()) {
    table.put(tableName, {
      messageId: `order-${n}`,
      owner: "0e8f7c9e-5a5f-4a52-9c3a-6f0b7e1d2c3b",
      leaseExpiresAt: startedAt - 1,
      attempt: 1,
      firstClaimedAt: startedAt - SPAN_MS + 60_000 + Math.floor((n * (SPAN_MS - 120_000)) / count),
      fingerprint: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
      expiresAt: Math.ceil(startedAt / 1_000) + 3_000_000,
      amount: 1_250,
      currency: "eur",
      ...(n < STUCK + UNRECORDED
        ? { status: "IN_PROGRESS" }
        : { status: "COMPLETED", outcome: { result: "succeeded", paymentIntentId } }),
    });
  }
}

function seconds(since: number): number {
  return Math.round((performance.now() - since) / 1_000);
}
