// What is compared, and how it is bundled.

import { join } from "node:path";

import { build as buildFunctions, bundleFunction } from "../scripts/build.ts";
import { LEAVE_OUT } from "../scripts/build/leave-out.ts";

export const VARIANTS = [
  "ours",
  // The same without the batch that is played in init.
  "ours, not warmed up",
  "Powertools",
  "naive",
  "floor",
] as const;
export type Variant = (typeof VARIANTS)[number];

export type Bundle = { path: string; bytes: number };

const ROOT = join(import.meta.dirname, "..");

/** Builds every variant: ours as it is shipped, the others with the same esbuild settings. */
export async function buildVariants(): Promise<Record<Variant, Bundle>> {
  const bytes = (await buildFunctions())["payment-worker"] ?? Number.NaN;
  return {
    ours: { path: join(ROOT, "dist/payment-worker/init.mjs"), bytes },
    "ours, not warmed up": { path: join(ROOT, "dist/payment-worker/index.js"), bytes },
    Powertools: await other("powertools"),
    naive: await other("naive"),
    floor: await other("floor"),
  };
}

async function other(name: string): Promise<Bundle> {
  const folder = `dist/bench/${name}`;
  const bytes = await bundleFunction(`bench/variants/${name}.ts`, folder);
  return { path: join(ROOT, folder, "index.js"), bytes };
}

/** The size of Powertools' bundle without what ours leaves out. It is not run. */
export function trimmedPowertoolsBytes(): Promise<number> {
  return bundleFunction("bench/variants/powertools.ts", "dist/bench/trimmed", LEAVE_OUT);
}
