import { readFileSync } from "node:fs";

import type { App } from "aws-cdk-lib";
import { AwsSolutionsChecks, NIST80053R5Checks, ServerlessChecks } from "cdk-nag";
import type { NagPack } from "cdk-nag";
import { expect, test } from "vitest";

import { PaymentServiceStack } from "../../infra/payment-service-stack.ts";
import { dev, prod } from "../../infra/stages.ts";
import type { Stage } from "../../infra/stages.ts";
import { DEV, newApp, PROD } from "./synth.ts";

const PAGE = readFileSync(new URL("../../docs/security-findings.md", import.meta.url), "utf8");

const app = appOf(DEV, PROD);

function appOf(...stages: Stage[]): App {
  const made = newApp();
  for (const stage of stages) void new PaymentServiceStack(made, stage.name, stage);
  return made;
}

/** Each rule that `pack` finds broken, with the stages, acknowledged or not. */
function findings(pack: NagPack, appConstruct = app): string[] {
  const { violations } = pack.validate({
    appConstruct,
    templatePaths: [],
    stackTemplates: [],
  });
  return violations
    .map(({ ruleName, violatingResources }) => {
      const stages = new Set(
        violatingResources.map(({ constructPath = "" }) => constructPath.split("/")[0]),
      );
      return `${ruleName} | ${stages.size === 2 ? "both" : [...stages].join()}`;
    })
    .toSorted();
}

/** The rows of a section of the page: finding and stages. */
function listed(section: string): string[] {
  const text = PAGE.split(/^## /m).find((part) => part.startsWith(section)) ?? "";
  return [...text.matchAll(/^\| (\S+) \| (both|dev|prod) \|/gm)]
    .map(([, rule, stages]) => `${rule} | ${stages}`)
    .toSorted();
}

test("every AwsSolutions finding is acknowledged", () => {
  expect(listed("AwsSolutions")).toHaveLength(1);
  expect(findings(new AwsSolutionsChecks(app))).toStrictEqual([]);
});

test("every NIST 800-53 finding is listed with an answer, and no other", () => {
  expect(listed("NIST 800-53 revision 5")).toHaveLength(8);
  expect(findings(new NIST80053R5Checks(app))).toStrictEqual(listed("NIST 800-53 revision 5"));
});

test("every finding of the Serverless pack is listed with an answer, and no other", () => {
  expect(listed("Serverless")).toHaveLength(4);
  expect(findings(new ServerlessChecks(app))).toStrictEqual(listed("Serverless"));
});

test("the stages as they are set now have no finding of a kind that the page does not answer", () => {
  const deployed = appOf(dev, prod);

  const found = [new NIST80053R5Checks(deployed), new ServerlessChecks(deployed)]
    .flatMap((pack) => findings(pack, deployed))
    .map((finding) => finding.split(" | ")[0]);
  expect(found).toContain("NIST.800.53.R5-LambdaDLQ");
  expect(found.filter((rule) => !PAGE.includes(`| ${rule} |`))).toStrictEqual([]);
});
