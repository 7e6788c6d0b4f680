// How far a reconciliation has come, as it is kept between invocations, and what of it may be trusted.

import { isObject } from "../message/json.ts";
import { newRun } from "./run.ts";
import type { Run } from "./run.ts";

const HOUR_MS = 60 * 60_000;
/** An older one is not worth going on with: the next window covers what is left of it. */
const STALE_MS = 6 * HOUR_MS;
const VERSION = 1;

export type Checkpoint = {
  /** When the run began that was finished last, epoch ms. */
  finished?: number;
  /** One that is not finished. */
  run?: Run;
};

/** Where checkpoints and reports are kept. Every method may reject. */
export interface Reports {
  /** What `keep` kept last, whatever became of it since; undefined when there is none. */
  kept(): Promise<unknown>;
  keep(checkpoint: object): Promise<void>;
  publish(name: string, report: object): Promise<void>;
}

export const keepable = (checkpoint: Checkpoint): object => ({ version: VERSION, ...checkpoint });

/** The checkpoint to go on from; `ignored` says why one was not used. `now` is in epoch ms. */
export function readCheckpoint(kept: unknown, now: number): Checkpoint & { ignored?: string } {
  if (kept === undefined) return {};
  if (!isObject(kept)) return { ignored: "The checkpoint is damaged: it is no JSON object." };
  const { version, finished, run } = kept;
  if (version !== VERSION) {
    return { ignored: `The checkpoint is another version's: ${String(version)}, not ${VERSION}.` };
  }
  const last = typeof finished === "number" ? { finished } : {};
  if (run === undefined) return last;
  if (!isRun(run)) return { ...last, ignored: "The checkpoint is damaged: its run is not whole." };
  const age = now - run.startedAt;
  if (age > STALE_MS) {
    const hours = Math.round(age / HOUR_MS);
    return { ...last, ignored: `The checkpoint is ${hours} hours old: a new run covers the rest.` };
  }
  return { ...last, run };
}

/** Whether it has every field, each of its kind. */
function isRun(run: unknown): run is Run {
  return isObject(run) && isLike(run, newRun({ since: 0, until: 0 }, 0, 0));
}

function isLike(value: unknown, model: unknown): boolean {
  if (typeof value !== typeof model || Array.isArray(value) !== Array.isArray(model)) return false;
  if (typeof model === "number") return Number.isFinite(value);
  if (value === null) return false;
  return Object.entries(model as object).every(([name, part]) =>
    isLike((value as Record<string, unknown>)[name], part),
  );
}
