// The tarball in other people's apps, each with a CDK of its own. Needs the npm registry.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { makePackage } from "../../scripts/package.ts";

const ROOT = join(import.meta.dirname, "..", "..");

/** The oldest and the newest CDK of the peer range, and one between; each with a compiler of its time. */
const APPS = [
  { cdk: "2.224.0", constructs: "10.0.0", typescript: "5.6.3" },
  { cdk: "2.250.0", constructs: "10.5.0", typescript: "5.9.3" },
  { cdk: "2.276.0", constructs: "10.8.1", typescript: "7.0.2" },
];

const [, SNIPPET = ""] =
  /```ts\n([\s\S]+?)```/.exec(readFileSync(join(ROOT, "docs", "deploy.md"), "utf8")) ?? [];

/** The app of docs/deploy.md as it stands there, with an aspect that must see what others made, too. */
const SHOP = `${SNIPPET}
import { Aspects, CfnResource } from "aws-cdk-lib";

const seen: string[] = [];
Aspects.of(stack).add({
  visit(node) {
    if (node instanceof CfnResource) seen.push(stack.getLogicalId(node));
  },
});
const { template } = (stack.node.root as App).synth().getStackByName("Shop");
process.stdout.write(JSON.stringify({ seen, template }));
`;

type Shop = {
  seen: string[];
  template: { Resources: Record<string, { Type: string }>; Outputs: Record<string, unknown> };
};

let folder: string;
let tarball: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "package-"));
  ({ tarball } = await makePackage());
});

afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a program and returns what it printed. @throws Error with what it printed, when it failed */
function run(cwd: string, program: string, ...args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, args, { cwd, maxBuffer: 64 * 1024 ** 2 }, (error, stdout, stderr) => {
      if (error) reject(new Error(`${error.message}\n${stdout.slice(0, 2_000)}\n${stderr}`));
      else resolve(stdout);
    });
  });
}

async function newApp({ cdk, constructs, typescript }: (typeof APPS)[number]): Promise<string> {
  const app = join(folder, cdk);
  mkdirSync(app);
  writeFileSync(join(app, "package.json"), '{ "name": "shop", "private": true }\n');
  writeFileSync(join(app, "esm.mts"), SHOP);
  writeFileSync(join(app, "commonjs.cts"), SHOP);
  const packages = [
    `aws-cdk-lib@${cdk}`,
    `constructs@${constructs}`,
    `typescript@${typescript}`,
    "@types/node@24.19.4",
  ];
  await run(app, "npm", "install", "--no-audit", "--no-fund", ...packages, tarball);
  return app;
}

async function files(): Promise<string[]> {
  const listed = await run(ROOT, "tar", "--list", "--file", tarball);
  return listed
    .trim()
    .split("\n")
    .map((file) => file.replace("package/", ""));
}

test("the tarball holds functions, constructs, types and the command, and no test, source or Node", async () => {
  const expected =
    /^(dist\/[a-z-]+\/(index\.js|index\.js\.map|init\.mjs|package\.json)|infra\/(index\.js|[a-z-]+\.d\.ts)|lib\/[a-z/-]+\.d\.ts|cli\/[\w-]+\.[cm]js|package\.json|README\.md|LICENSE|THIRD-PARTY-LICENSES)$/;

  expect((await files()).filter((file) => !expected.test(file))).toEqual([]);
});

test("the manifest asks for the app's CDK, and for what the command imports", async () => {
  const manifest = JSON.parse(
    await run(ROOT, "tar", "--extract", "--to-stdout", "--file", tarball, "package/package.json"),
  ) as Record<string, Record<string, string>>;

  expect(manifest["peerDependencies"]).toEqual({
    "aws-cdk-lib": "^2.224.0",
    constructs: "^10.0.0",
  });
  expect(Object.keys(manifest["dependencies"] ?? {})).toEqual([
    "@aws-sdk/client-cloudformation",
    "@aws-sdk/client-cloudwatch",
    "@aws-sdk/client-cloudwatch-logs",
    "@aws-sdk/client-dynamodb",
    "@aws-sdk/client-eventbridge",
    "@aws-sdk/client-secrets-manager",
    "@aws-sdk/client-sqs",
    "@aws-sdk/lib-dynamodb",
    "@aws-sdk/util-dynamodb",
    "lossless-json",
    "stripe",
  ]);
  for (const key of ["devDependencies", "optionalDependencies", "scripts", "private"]) {
    expect(manifest).not.toHaveProperty(key);
  }
});

describe.each(APPS)("in an app with aws-cdk-lib $cdk and TypeScript $typescript", (versions) => {
  let app: string;

  beforeAll(async () => {
    app = await newApp(versions);
  });

  test("there is one aws-cdk-lib, the app's own", async () => {
    const found = await run(app, "find", "node_modules", "-name", "aws-cdk-lib", "-type", "d");

    expect(found.trim()).toBe("node_modules/aws-cdk-lib");
  });

  test("tsc accepts the types, strictly and with every declaration file checked", async () => {
    const flags = ["--strict", "--noUncheckedIndexedAccess"];
    const options = ["--module", "nodenext", "--target", "es2022", "--types", "node", ...flags];

    expect(await run(app, "npx", "tsc", ...options, "esm.mts", "commonjs.cts")).toBe("");
  });

  test.each(["esm.mjs", "commonjs.cjs"])(
    "%s synthesizes the worker, and its aspects see every resource",
    async (file) => {
      const { seen, template } = JSON.parse(await run(app, process.execPath, file)) as Shop;

      expect(seen.toSorted()).toEqual(Object.keys(template.Resources).toSorted());
      expect(Object.values(template.Resources).map(({ Type }) => Type)).toContain(
        "AWS::Lambda::EventSourceMapping",
      );
      expect(Object.keys(template.Outputs)).toEqual([
        "QueueUrl",
        "DlqUrl",
        "TableName",
        "SecretArn",
        "LogGroupName",
      ]);
    },
  );

  test("the function that is deployed is the one that this project tests", async () => {
    const installed = join(app, "node_modules", "payment-worker", "dist", "payment-worker");

    expect(readFileSync(join(installed, "index.js"))).toEqual(
      readFileSync(join(ROOT, "dist", "payment-worker", "index.js")),
    );
  });

  test("npx payments runs", async () => {
    expect(await run(app, "npx", "payments", "--help")).toMatch(/^npx payments <command>/);
    expect(await run(app, "npx", "payments", "status", "--help")).toContain("npx payments status");
  });
});
