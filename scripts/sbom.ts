// npm run sbom: what is inside each function, and what the payments command needs, with licenses.
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { readArguments } from "../cli/terminal/arguments.ts";
import { runCommand } from "../cli/terminal/command.ts";
import { table } from "../cli/terminal/table.ts";
import manifest from "../package.json" with { type: "json" };
import { makePackage } from "./package.ts";
import { billOfMaterials } from "./sbom/cyclonedx.ts";
import { bundledPackages, nameOf, readLock, withDependencies } from "./sbom/packages.ts";

const COMMAND = {
  name: "sbom",
  usage: "npm run sbom",
  about: `
Writes .local/sbom/<function>.cdx.json for each function, and payments.cdx.json for the command, in
CycloneDX's JSON, and prints every package with its license.`,
  options: {},
  notes: `
A function's are the packages that have code in its bundle; the command's are those that it imports,
with all that they need. npm sbom has neither: it leaves out what development needs as well.`,
};

const ROOT = join(import.meta.dirname, "..");
const OUTPUT = join(ROOT, ".local", "sbom");

await runCommand(async () => {
  readArguments(COMMAND);
  const { dependencies } = await makePackage();
  const lock = readLock();
  const contents = new Map<string, string[]>();
  for (const name of readdirSync(join(ROOT, "dist"))) contents.set(name, bundledPackages(name));
  contents.set("payments", withDependencies(dependencies, lock));

  mkdirSync(OUTPUT, { recursive: true });
  for (const [name, places] of contents) {
    const bill = billOfMaterials({ name, version: manifest.version }, places, lock);
    writeFileSync(join(OUTPUT, `${name}.cdx.json`), `${JSON.stringify(bill, undefined, 2)}\n`);
  }
  const all = [...new Set([...contents.values()].flat())].toSorted();
  const rows = all.map((place) => [
    nameOf(place),
    lock[place]?.version ?? "",
    lock[place]?.license ?? "none stated",
    [...contents].flatMap(([name, places]) => (places.includes(place) ? [name] : [])).join(", "),
  ]);
  console.log(table(["package", "version", "license", "in"], rows));
});
