// Bundles the worker: dist/payment-worker/index.js, the very file that is deployed, run locally,
// measured and invoked.

import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { build as bundle } from "esbuild";

const ROOT = join(import.meta.dirname, "..");
const OUT = join(ROOT, "dist", "payment-worker");

/** Builds the bundle and returns the size of index.js in bytes. */
export async function build(): Promise<number> {
  await rm(OUT, { recursive: true, force: true });
  const { metafile } = await bundle({
    absWorkingDir: ROOT,
    entryPoints: ["functions/payment-worker.ts"],
    outfile: "dist/payment-worker/index.js",
    bundle: true,
    platform: "node",
    target: "node24",
    format: "cjs", // loads faster than ESM here
    mainFields: ["module", "main"], // ESM sources tree-shake
    minify: true,
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    logLevel: "warning",
  });
  // The project is a module; the bundle is not.
  await writeFile(join(OUT, "package.json"), '{"type":"commonjs"}\n');
  const output = metafile.outputs["dist/payment-worker/index.js"];
  if (!output) throw new Error("Bug! esbuild wrote no dist/payment-worker/index.js.");
  return output.bytes;
}

if (process.argv[1] === import.meta.filename) {
  const bytes = await build();
  console.log(`dist/payment-worker/index.js: ${Math.round(bytes / 1_000)} kB`);
}
