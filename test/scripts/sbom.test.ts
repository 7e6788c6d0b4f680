import { expect, test } from "vitest";

import { npmBill, partOf, withDependencies } from "../../scripts/sbom/bill.ts";
import { bundledPackages } from "../../scripts/sbom/packages.ts";

test("the worker's bundle holds Stripe and the clients that it calls, and nothing that only commands need", () => {
  const names = [...bundledPackages("payment-worker").values()].map(({ name }) => name);

  expect(names).toEqual(
    expect.arrayContaining(["@aws-sdk/client-dynamodb", "@aws-sdk/client-sqs", "stripe"]),
  );
  expect(names.filter((name) => /cloudformation|cloudwatch|sso|-ini$|aws-cdk/.test(name))).toEqual(
    [],
  );
});

test("a bill of materials names what a package needs, each with version, license and hash, and nothing else", async () => {
  const whole = await npmBill();
  const ref = (name: string) => whole.components.find((one) => one.name === name)?.["bom-ref"];

  const refs = withDependencies(["@aws-sdk/lib-dynamodb", "stripe"], whole);
  const bill = partOf(whole, { name: "shop", version: "1.0.0" }, refs);

  expect(bill).toMatchObject({
    bomFormat: "CycloneDX",
    metadata: { component: { type: "application", name: "shop", version: "1.0.0" } },
  });
  expect(refs).toContain(ref("mnemonist")); // of a package that it needs
  expect(refs).not.toContain(ref("@types/node")); // with which Stripe only compiles
  expect(refs).not.toContain(ref("lossless-json"));
  expect(bill.components).toHaveLength(refs.size);
  for (const component of bill.components) {
    expect(component).toMatchObject({
      purl: expect.stringMatching(/^pkg:npm\/.+@\d/) as string,
      licenses: [{ license: { id: expect.any(String) as string } }],
      hashes: [{ alg: "SHA-512", content: expect.stringMatching(/^[\da-f]{128}$/) as string }],
    });
  }
});

test("a package that the lock file lacks makes no bill", async () => {
  const whole = await npmBill();

  expect(() =>
    partOf(whole, { name: "shop", version: "1.0.0" }, withDependencies(["missing"], whole)),
  ).toThrow("package-lock.json lacks missing.");
});
