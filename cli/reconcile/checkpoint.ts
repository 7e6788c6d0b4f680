// How far a reconciliation has come, in a file: it resumes after Ctrl-C, a crash or a lost network.
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { noTotals } from "../../lib/reconcile/money.ts";
import type { Totals } from "../../lib/reconcile/money.ts";
import { UsageError } from "../terminal/command.ts";

export type Checkpoint = {
  tableName: string;
  /** The period, epoch ms. */
  since: number;
  until: number;
  /** Segments of the table's scan: where each resumes. */
  segments: { from?: Record<string, unknown>; done: boolean }[];
  /** Slices of the period at Stripe: where each resumes. */
  slices: TimeSlice[];
  /** The same for its balance. */
  moneySlices: TimeSlice[];
  /** False when the key may not read the balance: then the totals say nothing. */
  balanceRead: boolean;
  totals: Totals;
  /** The next of the parts to compare. */
  nextPart: number;
  counts: { records: number; open: number; intents: number; foreign: number; agree: number };
};

/** Epoch s. */
export type TimeSlice = { gte: number; lt: number; after?: string; done: boolean };

// More at once does not pay: Stripe's rate, and one process, are the limits.
const SEGMENTS = 8;
const SLICES = 8;

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** A new reconciliation of a period. `now` is in epoch ms. */
export function newCheckpoint(
  tableName: string,
  since: number,
  until: number,
  now: number,
): Checkpoint {
  // A payment may be charged some time after its first claim, and the two clocks differ.
  const from = Math.floor((since - 5 * MINUTE_MS) / 1_000);
  const to = Math.ceil(Math.min(until + DAY_MS, now + 5 * MINUTE_MS) / 1_000);
  const step = Math.ceil((to - from) / SLICES);
  const slices = () =>
    Array.from({ length: SLICES }, (_, index) => ({
      gte: from + index * step,
      lt: Math.min(to, from + (index + 1) * step),
      done: false,
    }));
  return {
    tableName,
    since,
    until,
    segments: Array.from({ length: SEGMENTS }, () => ({ done: false })),
    slices: slices(),
    moneySlices: slices(),
    balanceRead: true,
    totals: noTotals(),
    nextPart: 0,
    counts: { records: 0, open: 0, intents: 0, foreign: 0, agree: 0 },
  };
}

export async function saveCheckpoint(folder: string, text: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, "checkpoint.json");
  // In one step: a kill leaves the old one or the new one, never half of it.
  await writeFile(`${file}.next`, text);
  await rename(`${file}.next`, file);
}

/** @throws UsageError when there is none to resume, or it is of another table */
export async function loadCheckpoint(folder: string, tableName: string): Promise<Checkpoint> {
  let checkpoint: Checkpoint;
  try {
    checkpoint = JSON.parse(await readFile(join(folder, "checkpoint.json"), "utf8")) as Checkpoint;
  } catch (error) {
    throw new UsageError(
      `There is no reconciliation to resume in ${folder}: an interrupted one names its folder.`,
      { cause: error },
    );
  }
  if (checkpoint.tableName !== tableName) {
    throw new UsageError(
      `The reconciliation in ${folder} is of the table ${checkpoint.tableName}, not ${tableName}.`,
    );
  }
  return checkpoint;
}

/** Removes all but the newest: an interrupted one may have to be resumed, or one be repaired. */
export async function removeOldFolders(parent: string, kept: number): Promise<void> {
  const names = await readdir(parent).catch(() => []);
  const folders = await Promise.all(
    names.map(async (name) => {
      const folder = join(parent, name);
      return { folder, usedAt: (await stat(folder)).mtimeMs };
    }),
  );
  const old = folders.toSorted((a, b) => b.usedAt - a.usedAt).slice(kept);
  await Promise.all(old.map(({ folder }) => rm(folder, { recursive: true, force: true })));
}
