import { expect, test } from "vitest";

import { billOfMaterials } from "../../scripts/sbom/cyclonedx.ts";
import { bundledPackages, nameOf, withDependencies } from "../../scripts/sbom/packages.ts";

const LOCK = {
  "node_modules/a": { version: "1.0.0", dependencies: { b: "^2.0.0", "@c/c": "*" } },
  "node_modules/a/node_modules/b": { version: "2.0.0", optionalDependencies: { elsewhere: "*" } },
  "node_modules/b": { version: "1.0.0", dependencies: { development: "*" } },
  "node_modules/@c/c": {
    version: "3.0.0",
    license: "MIT",
    integrity: "sha512-AQI=",
    dependencies: { b: "*" },
  },
  "node_modules/development": { version: "9.0.0", dependencies: { a: "*" } },
};

test("the worker's bundle holds Stripe and the clients that it calls, and nothing that only commands need", () => {
  const names = bundledPackages("payment-worker").map(nameOf);

  expect(names).toEqual(
    expect.arrayContaining(["@aws-sdk/client-dynamodb", "@aws-sdk/client-sqs", "stripe"]),
  );
  expect(names.filter((name) => /cloudformation|cloudwatch|sso|-ini$|aws-cdk/.test(name))).toEqual(
    [],
  );
});

test("what a package needs is found where Node finds it, and left out when it is for another platform", () => {
  expect(withDependencies(["a"], LOCK)).toEqual([
    "node_modules/@c/c",
    "node_modules/a",
    "node_modules/a/node_modules/b",
    "node_modules/b",
    "node_modules/development",
  ]);
});

test("a lock file that lacks a package makes no bill", () => {
  expect(() => withDependencies(["missing"], LOCK)).toThrow(
    "package-lock.json lacks missing, which this project needs.",
  );
});

test("a bill of materials names each package with version, license and hash", () => {
  const bill = billOfMaterials({ name: "shop", version: "1.0.0" }, ["node_modules/@c/c"], LOCK);

  expect(bill).toEqual({
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: {
        type: "application",
        "bom-ref": "pkg:npm/shop@1.0.0",
        name: "shop",
        version: "1.0.0",
      },
    },
    components: [
      {
        type: "library",
        "bom-ref": "pkg:npm/%40c/c@3.0.0",
        group: "@c",
        name: "c",
        version: "3.0.0",
        purl: "pkg:npm/%40c/c@3.0.0",
        licenses: [{ expression: "MIT" }],
        hashes: [{ alg: "SHA-512", content: "0102" }],
      },
    ],
  });
});
