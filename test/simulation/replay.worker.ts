// Replays and shrinks in a thread of its own: the simulation replaces a thread's clock.
import { parentPort } from "node:worker_threads";

import { drawn } from "../../simulation/search/choices.ts";
import { runRandom, scheduleOfSeed, trace } from "../../simulation/search/replay.ts";
import type { Schedule } from "../../simulation/search/replay.ts";
import { createRunner } from "../../simulation/search/schedule.ts";
import { shrink } from "../../simulation/search/shrink.ts";
import { SEEDED_BUGS } from "../../simulation/seeded-bugs.ts";
import { loadWorker } from "../../simulation/seeded-bugs/load-worker.ts";

type Length = { rule: string | undefined; lines: number };

export type Replayed = {
  tracesOfOneSeed: string[];
  shrunk: { before: Length; after: Length };
};

const DEPTH = 6;
const recorder = { count: () => {}, digests: false };

const run = createRunner(await loadWorker());
const tracesOfOneSeed: string[] = [];
for (const seed of [7, 7]) {
  const { text } = await trace(run, await scheduleOfSeed(run, seed, DEPTH));
  tracesOfOneSeed.push(text);
}

const bug = SEEDED_BUGS.find(({ name }) => name === "has no key window");
const withBug = createRunner(await loadWorker(bug));

async function firstViolation(): Promise<Schedule> {
  for (let seed = 0; ; seed++) {
    const chooser = drawn(seed);
    const { violation, steps } = await runRandom(withBug, chooser, DEPTH, { recorder });
    // Not a short one, of one message id (the first choice): others do not go away by shrinking.
    if (violation && steps > 20 && steps < 30 && chooser.taken[0] === 0)
      return { scenario: "random", depth: DEPTH, choices: chooser.taken };
  }
}

async function lengthOf(schedule: Schedule): Promise<Length> {
  const { violation, text } = await trace(withBug, schedule);
  return { rule: violation?.rule, lines: text.split("\n").length };
}

const found = await firstViolation();
const shrunk = {
  before: await lengthOf(found),
  after: await lengthOf(await shrink(withBug, found)),
};
const replayed: Replayed = { tracesOfOneSeed, shrunk };
parentPort?.postMessage(replayed);
