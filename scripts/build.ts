// Bundles the worker: dist/payment-worker/index.js, the very file that is deployed, run locally,
// measured and invoked; and init.mjs, through which Lambda loads it.

import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { build as esbuild } from "esbuild";
import type { BuildOptions } from "esbuild";

import { LEAVE_OUT } from "./build/leave-out.ts";

const ROOT = join(import.meta.dirname, "..");

// Lambda waits for a module's top-level await as part of init, at full CPU; what a CommonJS file
// leaves running goes on into the first invocation, at the handler's share of it.
// https://aws.amazon.com/blogs/compute/using-node-js-es-modules-and-top-level-await-in-aws-lambda/
const INIT = `import worker from "./index.js";
await worker.warmUp();
export const { handler } = worker;
`;

/** Builds the bundle and returns the size of index.js in bytes. */
export async function build(): Promise<number> {
  const folder = "dist/payment-worker";
  const bytes = await bundleFunction("functions/payment-worker.ts", folder, LEAVE_OUT);
  await replaceFile(join(ROOT, folder, "init.mjs"), INIT);
  return bytes;
}

/** Bundles one Lambda function as `index.js` in `folder` and returns its size in bytes. */
export async function bundleFunction(
  entryPoint: string,
  folder: string,
  options: BuildOptions = {},
): Promise<number> {
  const { outputFiles } = await esbuild({
    absWorkingDir: ROOT,
    entryPoints: [entryPoint],
    outfile: `${folder}/index.js`,
    bundle: true,
    platform: "node",
    target: "node24",
    format: "cjs", // loads faster than ESM here
    mainFields: ["module", "main"], // ESM sources tree-shake
    // As a require: the SDK's import("node:http") makes Node load undici, 30 ms of CPU in the first
    // request, for a namespace object that nobody reads.
    supported: { "dynamic-import": false },
    minify: true,
    sourcemap: true,
    sourcesContent: false,
    logLevel: "warning",
    ...options,
    write: false,
  });
  await mkdir(join(ROOT, folder), { recursive: true });
  for (const { path, contents } of outputFiles) await replaceFile(path, contents);
  // The project is a module; the bundle is not.
  await replaceFile(join(ROOT, folder, "package.json"), '{"type":"commonjs"}\n');
  const output = outputFiles.find(({ path }) => path.endsWith("index.js"));
  if (!output) throw new Error(`Bug! esbuild made no ${folder}/index.js.`);
  return output.contents.byteLength;
}

/** Whoever reads the file meanwhile, a worker that starts, finds the old one or the new one whole. */
async function replaceFile(path: string, contents: string | Uint8Array): Promise<void> {
  const next = `${path}.${process.pid}`;
  await writeFile(next, contents);
  await rename(next, path);
}

if (process.argv[1] === import.meta.filename) {
  const bytes = await build();
  console.log(`dist/payment-worker/index.js: ${Math.round(bytes / 1_000)} kB`);
}
