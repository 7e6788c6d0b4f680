// Loads the real lib/: every file as it is but for the sockets to Stripe, and, to see that the
// proof catches it, with one bug put in.

import { registerHooks } from "node:module";

import type * as bus from "../../lib/aws/event-bus.ts";
import type * as orders from "../../lib/aws/orders-table.ts";
import type * as outcomes from "../../lib/aws/recorded-outcomes.ts";
import type * as records from "../../lib/aws/records-table.ts";
import type * as messages from "../../lib/aws/send-message.ts";
import type * as api from "../../lib/lambda/api-handler.ts";
import type * as finalizer from "../../lib/lambda/finalizer-handler.ts";
import type * as fulfillment from "../../lib/lambda/fulfillment-handler.ts";
import type * as publisher from "../../lib/lambda/outcome-publisher.ts";
import type * as handler from "../../lib/lambda/payment-handler.ts";
import type * as keys from "../../lib/stripe/api-key.ts";
import type * as charges from "../../lib/stripe/charges.ts";
import type * as payments from "../../lib/stripe/payments.ts";
import type { Rule } from "../checkers/rules.ts";

/** The code of the worker, and of the functions around it. */
export type Worker = typeof handler &
  typeof charges &
  typeof records &
  typeof keys &
  typeof finalizer &
  typeof payments &
  typeof outcomes &
  typeof publisher &
  typeof bus &
  typeof fulfillment &
  typeof orders &
  typeof api &
  typeof messages;

const ENTRIES = [
  "lambda/payment-handler.ts",
  "stripe/charges.ts",
  "aws/records-table.ts",
  "stripe/api-key.ts",
  "lambda/finalizer-handler.ts",
  "stripe/payments.ts",
  "aws/recorded-outcomes.ts",
  "lambda/outcome-publisher.ts",
  "aws/event-bus.ts",
  "lambda/fulfillment-handler.ts",
  "aws/orders-table.ts",
  "lambda/api-handler.ts",
  "aws/send-message.ts",
];

/** A bug: in `file` of lib/, `find` is replaced by `replace`. */
export type SeededBug = {
  name: string;
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
const SOCKETS = `${LIB}stripe/http-client.ts`;
const CONNECTION = new URL("../world/connection.ts", import.meta.url).href;

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
      if (resolved.url === SOCKETS) return { ...resolved, url: CONNECTION };
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
    const modules = await Promise.all(
      ENTRIES.map((file) => import(`${LIB}${file}`) as Promise<Worker>),
    );
    const worker = Object.assign({}, ...modules) as Worker;
    const [missed] = pending;
    if (missed)
      throw new Error(`The bug "${bug?.name}" is in lib/${missed.file}, which is not loaded.`);
    return worker;
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
