// Loads the real lib/: every file as it is, but for the sockets to Stripe, and, to see that the
// proof has teeth, with one mistake put in.

import { registerHooks } from "node:module";

import type * as records from "../lib/aws/records-table.ts";
import type * as batch from "../lib/sqs/handler.ts";
import type * as keys from "../lib/stripe/api-key.ts";
import type * as charges from "../lib/stripe/charges.ts";
import type { Rule } from "./rules.ts";

type Modules = typeof batch & typeof charges & typeof records & typeof keys;

export type Library = Pick<Modules, "sqsHandler" | "stripeCharges" | "recordsTable" | "fixedKey">;

/** A mistake: in `file` of lib/, `find` is replaced by `replace`. */
export type Mistake = {
  name: string;
  /** Why it is one, in a sentence. */
  lesson: string;
  edits: readonly Edit[];
  /** The rule whose violation tells most, where the first one to break tells little. */
  shows?: Rule;
};
export type Edit = { file: string; find: string; replace: string };

const LIB = new URL("../lib/", import.meta.url).href;
const SOCKETS = `${LIB}stripe/http-client.ts`;
const CONNECTION = new URL("./connection.ts", import.meta.url).href;

let loads = 0;

/**
 * A fresh copy of lib/.
 *
 * @throws Error when the text that a mistake replaces is not there exactly once
 */
export async function loadLibrary(mistake?: Mistake): Promise<Library> {
  const load = `?load=${++loads}`;
  const pending = new Set(mistake?.edits);
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      if (resolved.url === SOCKETS) return { ...resolved, url: CONNECTION };
      const isLibrary = resolved.url.startsWith(LIB) && !resolved.url.includes("?");
      return isLibrary ? { ...resolved, url: resolved.url + load } : resolved;
    },
    load(url, context, next) {
      const loaded = next(url, context);
      if (!url.startsWith(LIB)) return loaded;
      if (loaded.source === undefined) throw new Error(`Bug! ${url} has no source.`);
      let source = Buffer.from(loaded.source as Uint8Array).toString();
      for (const edit of mistake?.edits ?? []) {
        if (url !== LIB + edit.file + load) continue;
        source = edited(source, edit, mistake?.name ?? "");
        pending.delete(edit);
      }
      return { ...loaded, source };
    },
  });
  try {
    const library = {
      ...((await import(`${LIB}sqs/handler.ts`)) as Modules),
      ...((await import(`${LIB}stripe/charges.ts`)) as Modules),
      ...((await import(`${LIB}aws/records-table.ts`)) as Modules),
      ...((await import(`${LIB}stripe/api-key.ts`)) as Modules),
    };
    const [missed] = pending;
    if (missed)
      throw new Error(
        `The mistake "${mistake?.name}" is in lib/${missed.file}, which is not loaded.`,
      );
    return library;
  } finally {
    hooks.deregister();
  }
}

function edited(source: string, { file, find, replace }: Edit, name: string): string {
  const parts = source.split(find);
  if (parts.length === 2) return parts.join(replace);
  throw new Error(
    `The mistake "${name}" replaces ${JSON.stringify(find)}, which is ${parts.length - 1} times in lib/${file}, not once: adapt it in simulation/seeded-bugs.ts.`,
  );
}
