// npm run sbom: what is inside each function, and what the payments command needs, with licenses.
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { readArguments } from "../cli/terminal/arguments.ts";
import { runCommand } from "../cli/terminal/command.ts";
import { table } from "../cli/terminal/table.ts";
import manifest from "../package.json" with { type: "json" };
import { makePackage } from "./package.ts";
import { licenseOf, npmBill, partOf, withDependencies } from "./sbom/bill.ts";
import { bundledPackages } from "./sbom/packages.ts";

const COMMAND = {
  name: "sbom",
  usage: "npm run sbom",
  about: `
Writes .local/sbom/<function>.cdx.json for each function, and payments.cdx.json for the command, in
CycloneDX's JSON, and prints every package with its license.`,
  options: {},
  notes: `
A function's are the packages that have code in its bundle; the command's are those that it imports,
with all that they need. Each is a part of what npm sbom lists of the whole lock file.`,
};

const ROOT = join(import.meta.dirname, "..");
const OUTPUT = join(ROOT, ".local", "sbom");

await runCommand(async () => {
  readArguments(COMMAND);
  const { dependencies } = await makePackage();
  const whole = await npmBill();
  const contents = new Map<string, ReadonlySet<string>>();
  for (const name of readdirSync(join(ROOT, "dist"))) {
    const packages = [...bundledPackages(name).values()];
    contents.set(name, new Set(packages.map(({ name, version }) => `${name}@${version}`)));
  }
  contents.set("payments", withDependencies(dependencies, whole));

  mkdirSync(OUTPUT, { recursive: true });
  for (const [name, refs] of contents) {
    const bill = partOf(whole, { name, version: manifest.version }, refs);
    writeFileSync(join(OUTPUT, `${name}.cdx.json`), `${JSON.stringify(bill, undefined, 2)}\n`);
  }
  const rows = whole.components
    .map((component) => {
      const { name, version, "bom-ref": ref } = component;
      const places = [...contents].flatMap(([place, refs]) => (refs.has(ref) ? [place] : []));
      return [name, version, licenseOf(component), places.join(", ")];
    })
    .filter(([, , , places]) => places !== "");
  console.log(table(["package", "version", "license", "in"], rows));
});
