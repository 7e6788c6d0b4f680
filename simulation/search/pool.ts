// Runs tasks on several threads, each with a lib/ of its own.

import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";

import type { Report, Task, Word } from "./thread.ts";

type PoolSettings = {
  threads?: number;
  /** Called with the number of schedules run since the last call. */
  onProgress?: (schedules: number) => void;
  onReport?: (report: Report) => void;
  /** Whether the tasks that have not begun are still wanted, after a report. */
  goesOn?: (report: Report) => boolean;
};

/**
 * The reports, in the order of their ends. No thread outlives the guarantee.
 *
 * @throws what a thread throws
 */
export async function runTasks(
  tasks: readonly Task[],
  { threads = availableParallelism(), onProgress, onReport, goesOn }: PoolSettings = {},
): Promise<Report[]> {
  const waiting = [...tasks];
  const reports: Report[] = [];

  const serve = (worker: Worker): Promise<void> =>
    new Promise((resolve, reject) => {
      const next = () => {
        const task = waiting.shift();
        if (task) worker.postMessage(task);
        else resolve();
      };
      worker.on("message", (word: Word) => {
        if ("progress" in word) {
          onProgress?.(word.progress);
          return;
        }
        reports.push(word.done);
        onReport?.(word.done);
        if (goesOn?.(word.done) === false) waiting.length = 0;
        next();
      });
      worker.on("error", reject);
      worker.on("exit", (code) => reject(new Error(`A simulation thread ended with ${code}.`)));
      next();
    });

  const workers = Array.from(
    { length: Math.min(threads, tasks.length) },
    () => new Worker(new URL("./thread.ts", import.meta.url)),
  );
  try {
    await Promise.all(workers.map(serve));
    return reports;
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}
