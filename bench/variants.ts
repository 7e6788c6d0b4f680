// What is compared, and how it is bundled: everything with the esbuild settings of the worker.

import { join } from "node:path";

import { build as buildFunctions, bundleFunction } from "../scripts/build.ts";
import { LEAVE_OUT } from "../scripts/build/leave-out.ts";

export const VARIANTS = [
  "worker",
  "worker, no warm-up",
  "Powertools",
  "Powertools, warmed up",
  "Powertools, every lever",
  "floor",
] as const;
export type Variant = (typeof VARIANTS)[number];

export type Bundles = {
  /** What is loaded, and the size of its code in bytes. */
  variants: Record<Variant, { path: string; bytes: number }>;
  /** Bytes, by the function's name. */
  functions: Record<string, number>;
};

const ROOT = join(import.meta.dirname, "..");

export async function buildVariants(): Promise<Bundles> {
  const functions = await buildFunctions();
  const bytes = functions["payment-worker"] ?? Number.NaN;
  const worker = (file: string) => ({ path: join(ROOT, "dist/payment-worker", file), bytes });
  const variants = {
    worker: worker("init.mjs"),
    "worker, no warm-up": worker("index.js"),
    Powertools: await bundle("powertools", "index.js"),
    "Powertools, warmed up": await bundle("powertools-warmed-up", "init.mjs"),
    "Powertools, every lever": await bundle("powertools-every-lever", "init.mjs", LEAVE_OUT),
    floor: await bundle("floor", "index.js"),
  };
  return { variants, functions };
}

async function bundle(name: string, file: string, options?: typeof LEAVE_OUT) {
  const folder = `dist/bench/${name}`;
  const bytes = await bundleFunction(`bench/variants/${name}.ts`, folder, options);
  return { path: join(ROOT, folder, file), bytes };
}

/** All of them once, each time beginning with another: a machine that slows down slows them all. */
export async function takeTurns<Name>(
  round: number,
  names: readonly Name[],
  run: (name: Name) => Promise<void>,
): Promise<void> {
  const first = round % names.length;
  for (const name of [...names.slice(first), ...names.slice(0, first)]) await run(name);
}
