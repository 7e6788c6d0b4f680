// The simulation replaces a thread's clock: it runs in a thread of its own.
import { once } from "node:events";
import { Worker } from "node:worker_threads";

/** What the thread posts. */
export async function inThread<T>(file: string): Promise<T> {
  const [message] = (await once(new Worker(new URL(file, import.meta.url)), "message")) as [T];
  return message;
}
