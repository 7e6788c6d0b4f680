// Which packages a built function holds, and which ones a package needs, as the lock file has them.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..", "..");

/** A package by its place in the lock file, such as `node_modules/stripe`. */
type Locked = {
  version: string;
  license?: string;
  integrity?: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
};
export type Lock = Readonly<Record<string, Locked>>;

export function readLock(): Lock {
  const lock = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as {
    packages: Lock;
  };
  return lock.packages;
}

/**
 * The places of the packages that have code in `dist/<name>/index.js`, by its source map: what the
 * bundler left out is not there, whatever depends on it.
 */
export function bundledPackages(name: string): string[] {
  const map = JSON.parse(readFileSync(join(ROOT, "dist", name, "index.js.map"), "utf8")) as {
    sources: string[];
  };
  const places = map.sources.map(
    (source) => /node_modules\/(?:.*node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(source)?.[0],
  );
  return [...new Set(places.filter((place) => place !== undefined))].toSorted();
}

/** The places of `names` and of everything that they need. @throws Error when the lock file lacks one */
export function withDependencies(names: readonly string[], lock: Lock): string[] {
  const found = new Set<string>();
  const visit = (name: string, from: string, optional: boolean): void => {
    const place = placeOf(name, from, lock);
    if (place === undefined) {
      if (optional) return; // for another platform
      throw new Error(`package-lock.json lacks ${name}, which ${from || "this project"} needs.`);
    }
    if (found.has(place)) return;
    found.add(place);
    const { dependencies = {}, optionalDependencies = {} } = lock[place] ?? {};
    for (const dependency of Object.keys(dependencies)) {
      visit(dependency, place, dependency in optionalDependencies);
    }
    for (const dependency of Object.keys(optionalDependencies)) visit(dependency, place, true);
  };
  for (const name of names) visit(name, "", false);
  return [...found].toSorted();
}

/** Node's own rule: beside the one that asks, or beside any of those above it. */
function placeOf(name: string, from: string, lock: Lock): string | undefined {
  for (
    let folder = from;
    ;
    folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/node_modules/")))
  ) {
    const place = folder === "" ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (place in lock) return place;
    if (folder === "") return undefined;
  }
}

export function nameOf(place: string): string {
  return place.slice(place.lastIndexOf("node_modules/") + "node_modules/".length);
}
