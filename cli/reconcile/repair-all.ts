// Records what Stripe has and the table lacks, one finding after the other, after asking.
import { randomUUID } from "node:crypto";

import { recordsTable } from "../../lib/aws/records-table.ts";
import { repair } from "../../lib/payments/repair.ts";
import type { RepairDeps } from "../../lib/payments/repair.ts";
import { DIFFERENCES } from "../../lib/reconcile/differences.ts";
import { chargedParamsOf, stripeStateOf } from "../../lib/stripe/payment-intents.ts";
import { describeStates } from "../explain/explain-difference.ts";
import { confirm } from "../terminal/confirm.ts";
import { plural, say } from "../terminal/print.ts";
import { startProgress } from "../terminal/progress.ts";
import { table } from "../terminal/table.ts";
import type { Findings } from "./findings.ts";
import type { Found, Repaired } from "./report.ts";
import { verify } from "./verify.ts";
import type { Sources, Verified } from "./verify.ts";

/** Shows what would be written, asks, reads each finding again and repairs what is still true. */
export async function repairAll(
  { counts, first }: Found,
  findings: Findings,
  sources: Sources,
  recordTtlMs: number,
  options: { yes: boolean; signal: AbortSignal },
): Promise<Repaired[]> {
  const count = counts.not_recorded ?? 0;
  if (count === 0) {
    say("Nothing to repair: only an outcome that is not recorded can be.");
    return [];
  }
  const shown = first
    .filter(({ kind }) => kind === "not_recorded")
    .map((finding) => [finding.messageId, describeStates(finding)]);
  say(`\nTo be recorded in ${sources.tableName}:\n${table(["message", "at Stripe"], shown)}`);
  if (count > shown.length) say(`and ${count - shown.length} more: ${findings.file}`);
  const asking = { ...options, otherwise: "Nothing was recorded." };
  if (!(await confirm(`Record ${plural(count, "outcome")}?`, asking))) return [];
  const deps: RepairDeps = {
    records: recordsTable(sources.table, sources.tableName),
    recordTtlMs,
    now: Date.now,
    newOwner: () => `reconciliation-${randomUUID()}`,
  };
  const repaired: Repaired[] = [];
  const progress = startProgress("repairing", count);
  for await (const { messageId, kind, atStripe } of findings.all()) {
    if (options.signal.aborted) break;
    if (kind !== "not_recorded") continue;
    const paymentIntentIds = atStripe.map(({ paymentIntentId }) => paymentIntentId);
    const suspicion = { messageId, paymentIntentIds, counted: false };
    const [again] = await verify([suspicion], sources, Date.now);
    repaired.push({ messageId, ...(await repairOne(messageId, again, deps)) });
    progress.advance();
  }
  progress.done();
  return repaired;
}

async function repairOne(
  messageId: string,
  again: Verified | undefined,
  deps: RepairDeps,
): Promise<Omit<Repaired, "messageId">> {
  if (!again) return { recorded: true, sentence: "a worker has recorded it meanwhile" };
  const { finding, record, intent } = again;
  if (!intent) return { recorded: false, sentence: `now ${DIFFERENCES[finding.kind].name}` };
  const { outcome, created, paymentIntentId } = stripeStateOf(intent);
  if (!outcome) throw new Error("Bug! A state to record, without an outcome.");
  const charged = { outcome, params: chargedParamsOf(intent), createdAt: created };
  return (await repair(messageId, record, charged, deps))
    ? { recorded: true, sentence: `recorded as ${outcome.result}, ${paymentIntentId}` }
    : { recorded: false, sentence: "another worker came to it meanwhile: nothing was written" };
}
