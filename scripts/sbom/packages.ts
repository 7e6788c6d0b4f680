// Which packages a built function holds.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..", "..");

type Package = { name: string; version: string; license?: string };

/**
 * The packages that have code in `dist/<name>/index.js`, by its source map: what the bundler left out is
 * not there, whatever depends on it. Each by its folder, such as `node_modules/stripe`.
 */
export function bundledPackages(name: string): Map<string, Package> {
  const { sources } = readJson("dist", name, "index.js.map") as { sources: string[] };
  const folders = sources.flatMap(
    (source) => /node_modules\/(?:.*node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(source)?.[0] ?? [],
  );
  return new Map(
    [...new Set(folders)].map((folder) => [folder, readJson(folder, "package.json") as Package]),
  );
}

function readJson(...path: string[]): unknown {
  return JSON.parse(readFileSync(join(ROOT, ...path), "utf8"));
}
