// Bundles every function of functions/ as dist/<function>/index.js: the very file that is deployed,
// run locally, measured and invoked.

import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, join, relative, sep } from "node:path";

import { build as esbuild } from "esbuild";
import type { BuildOptions } from "esbuild";

import { LEAVE_OUT } from "./build/leave-out.ts";

const ROOT = join(import.meta.dirname, "..");

// init.mjs loads a function that warms up. Lambda waits for a module's top-level await as part of
// init, at full CPU; what a CommonJS file leaves running goes on into the first invocation, at the
// handler's share of it.
// https://aws.amazon.com/blogs/compute/using-node-js-es-modules-and-top-level-await-in-aws-lambda/
const INIT = `import lambda from "./index.js";
await lambda.warmUp();
export const { handler } = lambda;
`;

/** Builds every function; the size of each `index.js` in bytes, by the function's name. */
export async function build(): Promise<Record<string, number>> {
  const files = await readdir(join(ROOT, "functions"));
  const names = files.filter((file) => file.endsWith(".ts")).map((file) => basename(file, ".ts"));
  return Object.fromEntries(
    await Promise.all(
      names.map(async (name) => {
        const bytes = await bundleFunction(`functions/${name}.ts`, `dist/${name}`, LEAVE_OUT);
        return [name, bytes] as const;
      }),
    ),
  );
}

/**
 * Bundles one Lambda function as `index.js` in `folder`, with an `init.mjs` for one that warms up, and
 * returns the size of `index.js` in bytes.
 */
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
  const init = join(ROOT, folder, "init.mjs");
  const warmsUp = /^export (?:async )?(?:function|const) warmUp\b/m.test(
    await readFile(join(ROOT, entryPoint), "utf8"),
  );
  await (warmsUp ? replaceFile(init, INIT) : rm(init, { force: true }));
  const output = outputFiles.find(({ path }) => path.endsWith("index.js"));
  if (!output) throw new Error(`Bug! esbuild made no ${folder}/index.js.`);
  return output.contents.byteLength;
}

/**
 * A worker that starts meanwhile finds the old file or the new one, never a part of one; and a synthesis
 * that copies the folder meanwhile finds no file beside them.
 */
async function replaceFile(path: string, contents: string | Uint8Array): Promise<void> {
  const folder = join(ROOT, ".local", "build");
  await mkdir(folder, { recursive: true });
  const next = join(folder, `${relative(ROOT, path).replaceAll(sep, "-")}.${process.pid}`);
  await writeFile(next, contents);
  await rename(next, path);
}

if (process.argv[1] === import.meta.filename) {
  for (const [name, bytes] of Object.entries(await build())) {
    console.log(`dist/${name}/index.js: ${Math.round(bytes / 1_000)} kB`);
  }
}
