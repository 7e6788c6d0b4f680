// Builds the worker's bundle when a file that it is made of is newer. A command that rebuilt it each
// time would take it away, for a moment, from the workers that run it.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { build } from "./build.ts";

const ROOT = join(import.meta.dirname, "..");
const BUNDLE = join(ROOT, "dist", "payment-worker", "index.js");
const SOURCES = ["lib", "functions", "scripts/build.ts", "package-lock.json"];

/** Absolute path of a bundle that is up to date. */
export async function freshBundle(): Promise<string> {
  const builtAt = modifiedAt(BUNDLE);
  if (SOURCES.some((source) => modifiedAt(join(ROOT, source)) > builtAt)) await build();
  return BUNDLE;
}

/** ms since the epoch; of a folder, its newest file's or its own; 0 for what is not there. */
function modifiedAt(path: string): number {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats?.isDirectory()) return stats?.mtimeMs ?? 0;
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((name) => modifiedAt(join(path, name))));
}
