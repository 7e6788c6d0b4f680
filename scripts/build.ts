// Bundles the worker: dist/payment-worker/index.js, the very file that is deployed, run locally,
// measured and invoked.

import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";

import { build as bundle } from "esbuild";

const ROOT = join(import.meta.dirname, "..");
const OUT = join(ROOT, "dist", "payment-worker");

/** Builds the bundle and returns the size of index.js in bytes. */
export async function build(): Promise<number> {
  const { metafile, outputFiles } = await bundle({
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
    write: false,
    logLevel: "warning",
  });
  const files = outputFiles.map(({ path, contents }) => ({ name: basename(path), contents }));
  await mkdir(OUT, { recursive: true });
  await Promise.all([
    ...files.map(({ name, contents }) => replace(name, contents)),
    replace("package.json", '{"type":"commonjs"}\n'), // the project is a module, the bundle is not
  ]);
  const output = metafile.outputs["dist/payment-worker/index.js"];
  if (!output) throw new Error("Bug! esbuild wrote no dist/payment-worker/index.js.");
  return output.bytes;
}

/** Replaces a file in one step: a stack that is running may be loading it right now. */
async function replace(name: string, contents: string | Uint8Array): Promise<void> {
  const fresh = join(OUT, `.${name}.${process.pid}`);
  try {
    await writeFile(fresh, contents);
    await rename(fresh, join(OUT, name));
  } finally {
    await rm(fresh, { force: true });
  }
}

if (process.argv[1] === import.meta.filename) {
  const bytes = await build();
  console.log(`dist/payment-worker/index.js: ${Math.round(bytes / 1_000)} kB`);
}
