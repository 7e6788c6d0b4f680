// Parts of the bill of materials that npm makes of the lock file.
import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** https://cyclonedx.org/docs/1.5/json/ */
type Bill = {
  bomFormat: string;
  specVersion: string;
  metadata: { component: { "bom-ref": string } };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
};

type Component = {
  /** As in `stripe@23.1.0`. */
  "bom-ref": string;
  name: string;
  version: string;
  scope: "required" | "optional";
  licenses?: { license?: { id?: string; name?: string }; expression?: string }[];
};

export async function npmBill(): Promise<Bill> {
  const args = ["sbom", "--package-lock-only", "--sbom-format", "cyclonedx"];
  const { stdout } = await promisify(execFile)("npm", args, { maxBuffer: 2 ** 24 });
  return JSON.parse(stdout) as Bill;
}

/** Those of the project's dependencies, and everything that they need; no optional peer. */
export function withDependencies(names: readonly string[], bill: Bill): Set<string> {
  const optional = new Set(
    bill.components.flatMap((one) => (one.scope === "optional" ? one["bom-ref"] : [])),
  );
  const needs = new Map(bill.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
  const direct = needs.get(bill.metadata.component["bom-ref"]) ?? [];
  const found = new Set(names.map((name) => direct.find((ref) => nameIn(ref) === name) ?? name));
  for (const ref of found) {
    for (const needed of needs.get(ref) ?? []) if (!optional.has(needed)) found.add(needed);
  }
  return found;
}

/**
 * The bill of `name`, which holds these packages. The same lock file gives the same bill.
 *
 * @throws Error for a package that is not in the lock file
 */
export function partOf(
  { bomFormat, specVersion, components, dependencies }: Bill,
  { name, version }: { name: string; version: string },
  refs: ReadonlySet<string>,
) {
  const known = new Set(components.map((component) => component["bom-ref"]));
  const missing = [...refs].find((ref) => !known.has(ref));
  if (missing !== undefined) throw new Error(`package-lock.json lacks ${missing}.`);
  const component = { type: "application", "bom-ref": `${name}@${version}`, name, version };
  return {
    bomFormat,
    specVersion,
    version: 1,
    metadata: { component },
    components: components.filter((one) => refs.has(one["bom-ref"])),
    dependencies: dependencies
      .filter(({ ref }) => refs.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => refs.has(one)) })),
  };
}

export function licenseOf({ licenses = [] }: Component): string {
  const names = licenses.map(({ license, expression }) => license?.id ?? expression);
  return names.join(", ") || "none stated";
}

const nameIn = (ref: string): string => ref.slice(0, ref.lastIndexOf("@"));
