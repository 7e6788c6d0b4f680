// A software bill of materials in CycloneDX's JSON: https://cyclonedx.org/docs/1.6/json/
import { nameOf } from "./packages.ts";
import type { Lock } from "./packages.ts";

/** The bill of `name`, which holds the packages at `places`. The same lock file gives the same bill. */
export function billOfMaterials(
  { name, version }: { name: string; version: string },
  places: readonly string[],
  lock: Lock,
) {
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component: { type: "application", "bom-ref": purl(name, version), name, version } },
    components: places.map((place) => component(place, lock)),
  };
}

function component(place: string, lock: Lock) {
  const { version, license, integrity } = lock[place] ?? {};
  if (version === undefined) throw new Error(`package-lock.json lacks ${place}.`);
  const [group, name] = nameOf(place).startsWith("@")
    ? nameOf(place).split("/")
    : [undefined, nameOf(place)];
  const reference = purl(nameOf(place), version);
  const [algorithm, hash = ""] = integrity?.split("-") ?? [];
  return {
    type: "library",
    "bom-ref": reference,
    ...(group && { group }),
    name,
    version,
    purl: reference,
    ...(license && { licenses: [{ expression: license }] }),
    ...(algorithm === "sha512" && {
      hashes: [{ alg: "SHA-512", content: Buffer.from(hash, "base64").toString("hex") }],
    }),
  };
}

function purl(name: string, version: string): string {
  return `pkg:npm/${name.replace("@", "%40")}@${version}`;
}
