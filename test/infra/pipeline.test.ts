// The deploy workflow, as far as it can be tested without GitHub.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";
import { parse } from "yaml";

import { dev, prod } from "../../infra/stages.ts";

type Step = { uses?: string; run?: string; with?: Record<string, unknown>; env?: object };
type Job = {
  needs?: string;
  if?: string;
  uses?: string;
  environment?: string;
  permissions?: Record<string, string>;
  "timeout-minutes"?: number;
  steps?: Step[];
};
type Workflow = {
  on: Record<string, unknown>;
  permissions?: object;
  defaults: { run: { shell: string } };
  jobs: Record<string, Job>;
};

const ROOT = join(import.meta.dirname, "..", "..", ".github", "workflows");
const FILES = globSync("*.yml", { cwd: ROOT });
const read = (file: string) => parse(readFileSync(join(ROOT, file), "utf8")) as Workflow;
const { jobs } = read("deploy.yml");

/** What a job does with credentials: the role it assumes, and each command after that. */
function inAws(name: string): { role: unknown; commands: unknown[] } {
  const steps = jobs[name]?.steps ?? [];
  const at = steps.findIndex(({ uses }) =>
    uses?.startsWith("aws-actions/configure-aws-credentials@"),
  );
  return {
    role: steps[at]?.with?.["role-to-assume"],
    commands: steps.slice(at + 1).map(({ run, uses }) => run ?? uses),
  };
}

const artifactOf = (name: string, action: string) =>
  jobs[name]?.steps?.find(({ uses }) => uses?.startsWith(`actions/${action}-artifact@`))?.with;

test("main is checked, synthesized once, deployed to dev, tried with a payment, and then deployed to prod", () => {
  const order = Object.entries(jobs).map(([name, { needs }]) => [name, needs]);

  expect(order).toEqual([
    ["diff", undefined],
    ["check", undefined],
    ["assembly", "check"],
    ["dev", "assembly"],
    ["smoke", "dev"],
    ["prod", "smoke"],
  ]);
  expect(jobs["check"]?.uses).toBe("./.github/workflows/ci.yml");
  expect(read("ci.yml").on).toHaveProperty("workflow_call");
});

test("a job that waits for another has no condition that lets it run after a failure", () => {
  const conditions = Object.values(jobs).flatMap(({ needs, if: condition }) =>
    needs !== undefined && condition !== undefined ? [condition] : [],
  );

  expect(conditions).toEqual(["github.event_name == 'push' && vars.AWS_REGION != ''"]);
});

test("both stages get the assembly that one job uploaded, and make none themselves", () => {
  const synthesizing = Object.entries(jobs).filter(([, { steps = [] }]) =>
    steps.some(({ run = "" }) => /cdk (synth|deploy(?!.* --app cdk\.out --build true ))/.test(run)),
  );

  expect(synthesizing.map(([name]) => name)).toEqual(["assembly"]);
  expect(artifactOf("assembly", "upload")).toMatchObject({ name: "assembly", path: "cdk.out" });
  for (const stage of ["dev", "prod"]) {
    expect(artifactOf(stage, "download")).toEqual({ name: "assembly", path: "cdk.out" });
    expect(inAws(stage).commands).toEqual([
      `npx cdk deploy --app cdk.out --build true --exclusively PaymentWorker-${stage} --require-approval never`,
    ]);
  }
});

test("each environment deploys with its own role, and no job outside an environment can deploy", () => {
  const roles = Object.entries(jobs).flatMap(([name, { environment, permissions }]) =>
    permissions?.["id-token"] === "write" ? [[name, environment, inAws(name).role]] : [],
  );

  expect(roles).toEqual([
    ["diff", undefined, "${{ vars.AWS_DIFF_ROLE }}"],
    ["dev", "dev", "${{ vars.AWS_DEPLOY_ROLE }}"],
    ["smoke", "dev", "${{ vars.AWS_SMOKE_ROLE }}"],
    ["prod", "prod", "${{ vars.AWS_DEPLOY_ROLE }}"],
  ]);
});

test("the smoke payment goes to the stage that takes a test key alone", () => {
  expect(inAws("smoke").commands).toEqual([
    'npm run smoke -- --stack PaymentWorker-dev --customer "$CUSTOMER" --payment-method "$PAYMENT_METHOD"',
  ]);
  expect([dev.stripeMode, prod.stripeMode]).toEqual(["test", "live"]);
});

test("only a job's own credentials can be written, and every job ends", () => {
  for (const file of FILES) {
    for (const { uses, permissions, "timeout-minutes": minutes } of Object.values(
      read(file).jobs,
    )) {
      expect(Object.entries(permissions ?? {}).filter(([, to]) => to === "write")).toEqual(
        permissions?.["id-token"] ? [["id-token", "write"]] : [],
      );
      expect(uses ?? minutes).toBeDefined();
    }
  }
});

test.each(FILES)("in %s a pipe fails when its first command does", (file) => {
  const { defaults, jobs } = read(file);

  // GitHub's own default is `bash -e` without pipefail.
  expect(defaults.run.shell).toBe("bash");
  const steps = Object.values(jobs).flatMap(({ steps = [] }) => steps);
  expect(steps.filter((step) => "shell" in step)).toEqual([]);
});

test.each(FILES)(
  "%s names each action by its commit, and interpolates nothing into a command",
  (file) => {
    const steps = Object.values(read(file).jobs).flatMap(({ steps = [] }) => steps);

    expect(steps.filter(({ uses }) => uses && !/@[0-9a-f]{40}$/.test(uses))).toEqual([]);
    expect(steps.filter(({ run }) => run?.includes("${{"))).toEqual([]);
  },
);
