// Replays and shrinks in a thread of its own: the simulation replaces a thread's timers.
import { parentPort } from "node:worker_threads";

import { drawn } from "../../simulation/choices.ts";
import { loadLibrary } from "../../simulation/load-worker.ts";
import { runRandom, scheduleOfSeed, trace } from "../../simulation/replay.ts";
import type { Schedule } from "../../simulation/replay.ts";
import { createRunner } from "../../simulation/schedule.ts";
import { SEEDED_BUGS } from "../../simulation/seeded-bugs.ts";
import { shrink } from "../../simulation/shrink.ts";

type Length = { rule: string | undefined; lines: number };

export type Replayed = {
  tracesOfOneSeed: string[];
  shrunk: { before: Length; after: Length };
};

const DEPTH = 6;
const witness = { count: () => {}, digests: false };

const run = createRunner(await loadLibrary());
const tracesOfOneSeed: string[] = [];
for (const seed of [7, 7]) {
  const { text } = await trace(run, await scheduleOfSeed(run, seed, DEPTH));
  tracesOfOneSeed.push(text);
}

const mistake = SEEDED_BUGS.find(({ name }) => name === "has no key window");
const mistaken = createRunner(await loadLibrary(mistake));

async function firstViolation(): Promise<Schedule> {
  for (let seed = 0; ; seed++) {
    const chooser = drawn(seed);
    const { violation } = await runRandom(mistaken, chooser, DEPTH, { witness });
    if (violation) return { plan: "random", depth: DEPTH, choices: chooser.taken };
  }
}

async function lengthOf(schedule: Schedule): Promise<Length> {
  const { violation, text } = await trace(mistaken, schedule);
  return { rule: violation?.rule, lines: text.split("\n").length };
}

const found = await firstViolation();
const shrunk = {
  before: await lengthOf(found),
  after: await lengthOf(await shrink(mistaken, found)),
};
const replayed: Replayed = { tracesOfOneSeed, shrunk };
parentPort?.postMessage(replayed);
