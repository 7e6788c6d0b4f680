// The phases of a reconciliation, which may take hours: read both sides, compare, read again what
// differs. Each of them resumes from its checkpoint.
import { compare } from "../../lib/reconcile/compare.ts";
import { wrongAccount } from "../../lib/reconcile/finding.ts";
import { UsageError } from "../terminal/command.ts";
import { startProgress } from "../terminal/progress.ts";
import { saveCheckpoint } from "./checkpoint.ts";
import type { Checkpoint } from "./checkpoint.ts";
import type { Findings } from "./findings.ts";
import { openPartitions } from "./partitions.ts";
import type { Partitions } from "./partitions.ts";
import { expectedRecords, readAllRecords } from "./read-records.ts";
import { readAllIntents, readBalance } from "./read-stripe.ts";
import { verify } from "./verify.ts";
import type { Sources } from "./verify.ts";

const SAVE_MS = 2_000;
const VERIFY_AT_ONCE = 50;

/** Returns early when `signal` is aborted: `checkpoint` says how far it is. */
export async function gather(
  folder: string,
  checkpoint: Checkpoint,
  findings: Findings,
  sources: Sources,
  signal: AbortSignal,
): Promise<void> {
  const partitions = openPartitions(folder);
  await readBothSides(folder, checkpoint, partitions, sources, signal);
  await compareBothSides(folder, checkpoint, partitions, findings, sources, signal);
}

/** Reads both sides into the partitions. */
async function readBothSides(
  folder: string,
  checkpoint: Checkpoint,
  partitions: Partitions,
  { table, tableName, stripe, pace }: Sources,
  signal: AbortSignal,
): Promise<void> {
  const save = async (): Promise<void> => {
    // The state first, then what belongs to it: more on disk than it says is harmless, less is not.
    const text = JSON.stringify(checkpoint);
    await partitions.flush();
    await saveCheckpoint(folder, text);
  };
  let saving: Promise<void> = save();
  const timer = setInterval(() => {
    saving = saving.then(save);
  }, SAVE_MS);
  const records = startProgress("records", await expectedRecords(table, tableName));
  try {
    records.advance(checkpoint.counts.records);
    const options = { now: Date.now(), signal, progress: records };
    await readAllRecords(table, checkpoint, partitions, options);
    records.done();
    for (const [what, read] of [
      ["PaymentIntents", readAllIntents],
      ["balance transactions", readBalance],
    ] as const) {
      const progress = startProgress(what);
      try {
        await read(stripe, checkpoint, partitions, { pace, signal, progress });
      } finally {
        progress.done();
      }
    }
  } finally {
    records.done();
    clearInterval(timer);
    await saving;
    await save();
  }
}

/** Compares part after part, and keeps the differences that remain when read again. */
async function compareBothSides(
  folder: string,
  checkpoint: Checkpoint,
  partitions: Partitions,
  findings: Findings,
  sources: Sources,
  signal: AbortSignal,
): Promise<void> {
  const progress = startProgress("comparing, parts", partitions.parts);
  let unknown = 0;
  progress.advance(checkpoint.nextPart);
  try {
    while (checkpoint.nextPart < partitions.parts && !signal.aborted) {
      const entries = partitions.read(checkpoint.nextPart);
      // Kept with the part that it belongs to: an interrupted part is compared again.
      const totals = checkpoint.balanceRead ? structuredClone(checkpoint.totals) : undefined;
      const { agree, suspicions } = await compare(entries, checkpoint, Date.now(), totals);
      for (let at = 0; at < suspicions.length && !signal.aborted; at += VERIFY_AT_ONCE) {
        const some = suspicions.slice(at, at + VERIFY_AT_ONCE);
        const verified = await verify(some, sources, Date.now, totals);
        unknown += verified.filter(({ finding }) => finding.kind === "not_at_stripe").length;
        const wrong = wrongAccount(checkpoint.counts.intents, unknown);
        if (wrong !== undefined) throw new UsageError(wrong);
        await findings.add(verified.map(({ finding }) => finding));
      }
      if (signal.aborted) return;
      checkpoint.counts.agree += agree;
      if (totals) checkpoint.totals = totals;
      checkpoint.nextPart += 1;
      await saveCheckpoint(folder, JSON.stringify(checkpoint));
      progress.advance();
    }
  } finally {
    progress.done();
  }
}
