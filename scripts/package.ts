// npm run package: makes the tarball that another app installs, in .local/package/.
import { execFile } from "node:child_process";
import { copyFile, cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { build as esbuild } from "esbuild";
import type { BuildOptions } from "esbuild";

import manifest from "../package.json" with { type: "json" };
import { build } from "./build.ts";
import { bundledPackages } from "./sbom/packages.ts";

const ROOT = join(import.meta.dirname, "..");
const OUTPUT = join(ROOT, ".local", "package");
const CONTENTS = join(OUTPUT, "contents");

/** The first CDK that knows Node 24, up to the newest: test/package/ installs the tarball beside both. */
const PEERS = { "aws-cdk-lib": "^2.224.0", constructs: "^10.0.0" };

/** Makes the tarball and returns its path, and the names of the packages that it needs. */
export async function makePackage(): Promise<{ tarball: string; dependencies: string[] }> {
  await rm(OUTPUT, { recursive: true, force: true });
  await mkdir(CONTENTS, { recursive: true });
  await build();
  await cp(join(ROOT, "dist"), join(CONTENTS, "dist"), { recursive: true });
  for (const file of ["LICENSE", "README.md"])
    await copyFile(join(ROOT, file), join(CONTENTS, file));
  await writeLicenses();
  const imported = [...(await bundleConstructs()), ...(await bundleCommand())];
  await declareTypes();
  const published = manifestOf(new Set(imported.map(packageOf)));
  await writeFile(join(CONTENTS, "package.json"), `${JSON.stringify(published, undefined, 2)}\n`);
  const { stdout } = await promisify(execFile)("npm", ["pack", "--silent", CONTENTS], {
    cwd: OUTPUT,
  });
  return {
    tarball: join(OUTPUT, stdout.trim()),
    dependencies: Object.keys(published.dependencies),
  };
}

/** The licenses of what the functions' bundles hold: they ask to be passed on with the code. */
async function writeLicenses(): Promise<void> {
  const functions = await readdir(join(ROOT, "dist"));
  const packages = new Map(functions.flatMap((name) => [...bundledPackages(name)]));
  const sorted = [...packages].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const texts = sorted.map(async ([folder, { name, version, license }]) => {
    const file = (await readdir(join(ROOT, folder))).find((one) => /^licen[cs]e/i.test(one));
    const text = file ? await readFile(join(ROOT, folder, file), "utf8") : "";
    return `${name} ${version} (${license})\n\n${text.trim()}\n`;
  });
  const line = `\n${"-".repeat(80)}\n\n`;
  await writeFile(join(CONTENTS, "THIRD-PARTY-LICENSES"), (await Promise.all(texts)).join(line));
}

/** CommonJS, as aws-cdk-lib is: apps of both kinds load it, on any Node that runs the CDK. */
function bundleConstructs(): Promise<string[]> {
  return bundle({
    entryPoints: { index: "infra/index.ts" },
    outdir: join(CONTENTS, "infra"), // beside dist/, as in this project
    format: "cjs",
    target: "node20",
    define: { "import.meta.dirname": "__dirname" },
  });
}

async function bundleCommand(): Promise<string[]> {
  const imported = await bundle({
    entryPoints: { payments: "cli/payments.ts" },
    outdir: join(CONTENTS, "cli"),
    format: "esm",
    target: "node24",
    splitting: true, // a command loads only what it needs
    outExtension: { ".js": ".mjs" },
  });
  const folder = join(CONTENTS, "cli");
  for (const file of await readdir(folder)) {
    const text = await readFile(join(folder, file), "utf8");
    await writeFile(
      join(folder, file),
      text.replaceAll(/npm run (--silent )?payments --/g, "npx payments"),
    );
  }
  await copyFile(
    join(import.meta.dirname, "package", "payments.cjs"),
    join(folder, "payments.cjs"),
  );
  return imported;
}

/** Bundles this project's own code, and returns what it imports beside that. */
async function bundle(options: BuildOptions): Promise<string[]> {
  const { metafile } = await esbuild({
    absWorkingDir: ROOT,
    bundle: true,
    platform: "node",
    packages: "external",
    metafile: true,
    logLevel: "warning",
    ...options,
  });
  return Object.values(metafile?.outputs ?? {})
    .flatMap((output) => output.imports)
    .filter(({ external, path }) => external && !path.startsWith("node:"))
    .map(({ path }) => path);
}

async function declareTypes(): Promise<void> {
  const config = join(OUTPUT, "tsconfig.json");
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    stripInternal: true,
    rootDir: ROOT,
    outDir: CONTENTS,
    types: ["node"],
    typeRoots: [join(ROOT, "node_modules", "@types")],
  };
  const files = [join(ROOT, "infra", "index.ts")];
  await writeFile(
    config,
    JSON.stringify({ extends: join(ROOT, "tsconfig.json"), compilerOptions, files, include: [] }),
  );
  await promisify(execFile)(process.execPath, [
    join(ROOT, "node_modules", "typescript", "bin", "tsc"),
    "--project",
    config,
  ]);
  await rm(config);
  // Readers of the declarations look for the .js file's.
  for (const file of await readdir(CONTENTS, { recursive: true })) {
    if (!file.endsWith(".d.ts")) continue;
    const text = await readFile(join(CONTENTS, file), "utf8");
    await writeFile(join(CONTENTS, file), text.replaceAll(/(from "\.[^"]+)\.ts"/g, '$1.js"'));
  }
}

function packageOf(path: string): string {
  return path.split("/", path.startsWith("@") ? 2 : 1).join("/");
}

function manifestOf(imported: ReadonlySet<string>) {
  const { name, version, description, license, dependencies } = manifest;
  const versions = Object.entries(dependencies).filter(([dependency]) => imported.has(dependency));
  const unknown = [...imported].filter(
    (dependency) => !(dependency in dependencies) && !(dependency in PEERS),
  );
  if (unknown.length > 0) {
    throw new Error(
      `The package needs ${unknown.join(", ")}: make it a dependency of this project.`,
    );
  }
  return {
    name,
    version,
    description,
    license,
    keywords: ["aws", "cdk", "sqs", "lambda", "stripe", "idempotency", "payments"],
    type: "commonjs",
    main: "./infra/index.js",
    types: "./infra/index.d.ts",
    exports: {
      ".": { types: "./infra/index.d.ts", default: "./infra/index.js" },
      "./package.json": "./package.json",
    },
    bin: { payments: "cli/payments.cjs" },
    engines: { node: ">=20.20" },
    peerDependencies: PEERS,
    dependencies: Object.fromEntries(versions.map(([name, exact]) => [name, `^${exact}`])),
  };
}

if (process.argv[1] === import.meta.filename) console.log((await makePackage()).tarball);
