import { readFileSync } from "node:fs";

import type { App } from "aws-cdk-lib";
import {
  AwsSolutionsChecks,
  HIPAASecurityChecks,
  NIST80053R4Checks,
  NIST80053R5Checks,
  PCIDSS321Checks,
  ServerlessChecks,
} from "cdk-nag";
import type { NagPack } from "cdk-nag";
import { expect, test } from "vitest";

import { PaymentServiceStack } from "../../infra/payment-service-stack.ts";
import { dev, prod } from "../../infra/stages.ts";
import type { Stage } from "../../infra/stages.ts";
import { DEV, newApp, PROD } from "./synth.ts";

const PAGE = readFileSync(new URL("../../docs/security-findings.md", import.meta.url), "utf8");

/** The page's table: rule, stages, packs. */
const ROWS = [...PAGE.matchAll(/^\| (\w+) \| (both|dev|prod) \| ([\w, ]+) \|/gm)].map(
  ([, rule = "", stages, packs = ""]) => ({ rule, stages, packs: packs.split(", ") }),
);

const PACKS = [
  { name: "R4", Pack: NIST80053R4Checks, rows: 4 },
  { name: "R5", Pack: NIST80053R5Checks, rows: 8 },
  { name: "PCI", Pack: PCIDSS321Checks, rows: 3 },
  { name: "HIPAA", Pack: HIPAASecurityChecks, rows: 8 },
  { name: "Serverless", Pack: ServerlessChecks, rows: 4 },
];

function appOf(...stages: Stage[]): App {
  const made = newApp();
  for (const stage of stages) void new PaymentServiceStack(made, stage.name, stage);
  return made;
}

/** Each rule that `pack` finds broken, by its name without the pack's, with the stages. */
function findings(pack: NagPack, appConstruct: App): { rule: string; stages: string }[] {
  const { violations } = pack.validate({ appConstruct, templatePaths: [], stackTemplates: [] });
  return violations.map(({ ruleName, violatingResources }) => {
    const stages = new Set(
      violatingResources.map(({ constructPath = "" }) => constructPath.split("/")[0]),
    );
    return {
      rule: ruleName.slice(ruleName.lastIndexOf("-") + 1),
      stages: stages.size === 2 ? "both" : [...stages].join(),
    };
  });
}

const app = appOf(DEV, PROD);

test("every AwsSolutions finding is acknowledged", () => {
  expect(findings(new AwsSolutionsChecks(app), app)).toStrictEqual([]);
});

test.each(PACKS)("every finding of $name is listed with an answer, and no other", (pack) => {
  const { name, Pack, rows } = pack;
  const listed = ROWS.filter(({ packs }) => packs.includes(name));

  expect(listed).toHaveLength(rows);
  expect(findings(new Pack(app), app).toSorted((a, b) => (a.rule < b.rule ? -1 : 1))).toStrictEqual(
    listed.map(({ rule, stages }) => ({ rule, stages })),
  );
});

test("the stages as they are set now have no finding of a kind that the page does not answer", () => {
  const deployed = appOf(dev, prod);

  const found = PACKS.flatMap(({ Pack }) => findings(new Pack(deployed), deployed));
  expect(found.map(({ rule }) => rule)).toContain("LambdaDLQ");
  expect(found.filter(({ rule }) => !ROWS.some((row) => row.rule === rule))).toStrictEqual([]);
});

test("with every part, no AwsSolutions finding is left, and each other one has an answer on the page", () => {
  const parts = {
    outcomeEvents: true,
    stripeEvents: { partnerEventSource: "aws.partner/stripe.com/ed_test_1" },
    orderFulfillment: true,
    paymentApi: true,
  };
  const whole = appOf({ ...DEV, ...parts }, { ...PROD, ...parts });
  const found = PACKS.flatMap(({ name, Pack }) =>
    findings(new Pack(whole), whole).map(({ rule, stages }) => ({ rule, stages, pack: name })),
  );
  const ofParts = found.filter(({ rule }) => !ROWS.some((row) => row.rule === rule));
  const grouped = Map.groupBy(ofParts, ({ rule }) => rule);

  expect(findings(new AwsSolutionsChecks(whole), whole)).toStrictEqual([]);
  expect(
    [...grouped].map(([rule, of]) => [rule, of[0]?.stages, of.map(({ pack }) => pack).join(", ")]),
  ).toStrictEqual(
    [...PAGE.matchAll(/^\| with parts: (\w+) \| (both|dev|prod) \| ([\w, ]+) \|/gm)].map((row) =>
      row.slice(1),
    ),
  );
});
