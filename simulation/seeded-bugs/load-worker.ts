// Loads the real lib/: every file as it is but for the sockets to Stripe and the timers of calls,
// and, to see that the proof catches it, with one bug put in.

import { registerHooks } from "node:module";

import type { Rule } from "../checkers/rules.ts";
import type * as worker from "./worker.ts";

/** The code of the worker, and of the functions around it. */
export type Worker = typeof worker;

/** A bug: in `file` of lib/, `find` is replaced by `replace`. */
export type SeededBug = {
  name: string;
  /** Of the shortest schedule that was found in which it breaks a rule. */
  code: string | undefined;
  /** Why it hurts, in a sentence. */
  lesson: string;
  edits: readonly Edit[];
  /** The rule whose violation shows most, where the first one to break shows little. */
  shows?: Rule;
  /** It shows only with the functions around the worker. */
  family?: "random outcomes" | "random orders";
};
export type Edit = { file: string; find: string; replace: string };

const LIB = new URL("../../lib/", import.meta.url).href;
/** What the simulation has instead. */
const VIRTUAL: Readonly<Record<string, string>> = {
  [`${LIB}stripe/http-client.ts`]: new URL("../world/connection.ts", import.meta.url).href,
  [`${LIB}net/time-limit.ts`]: new URL("../world/time-limit.ts", import.meta.url).href,
};

let loads = 0;

/**
 * A fresh copy of lib/.
 *
 * @throws Error when the text that a bug replaces is not there exactly once
 */
export async function loadWorker(bug?: SeededBug): Promise<Worker> {
  const load = `?load=${++loads}`;
  const pending = new Set(bug?.edits);
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      const virtual = VIRTUAL[resolved.url];
      if (virtual !== undefined) return { ...resolved, url: virtual };
      const isLibrary = resolved.url.startsWith(LIB) && !resolved.url.includes("?");
      return isLibrary ? { ...resolved, url: resolved.url + load } : resolved;
    },
    load(url, context, next) {
      const loaded = next(url, context);
      if (!url.startsWith(LIB)) return loaded;
      if (loaded.source === undefined) throw new Error(`Bug! ${url} has no source.`);
      let source = Buffer.from(loaded.source as Uint8Array).toString();
      for (const edit of bug?.edits ?? []) {
        if (url !== LIB + edit.file + load) continue;
        source = edited(source, edit, bug?.name ?? "");
        pending.delete(edit);
      }
      return { ...loaded, source };
    },
  });
  try {
    const loaded = (await import(`./worker.ts${load}`)) as Worker;
    const [missed] = pending;
    if (missed)
      throw new Error(`The bug "${bug?.name}" is in lib/${missed.file}, which is not loaded.`);
    return loaded;
  } finally {
    hooks.deregister();
  }
}

function edited(source: string, { file, find, replace }: Edit, name: string): string {
  const parts = source.split(find);
  if (parts.length === 2) return parts.join(replace);
  throw new Error(
    `The bug "${name}" replaces ${JSON.stringify(find)}, which is ${parts.length - 1} times in lib/${file}, not once: adapt it in simulation/seeded-bugs.`,
  );
}
