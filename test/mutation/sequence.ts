// A mutant's run ends with the first test that fails: the unit tests of the mutated file come first,
// then what is cheap, and the simulation last.

import { globSync, readFileSync } from "node:fs";
import { basename } from "node:path";

import { BaseSequencer } from "vitest/node";
import type { TestSpecification } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    activeMutant?: string;
  }
}

const EXPENSIVE = ["stripe/charges.", "aws/clients.", "property", "test/cases/", "test/mutation/"];

export class FailFastOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { activeMutant } = this.ctx.getRootProject().getProvidedContext();
    const mutated = activeMutant === undefined ? undefined : fileOf(activeMutant);
    const cost = ({ moduleId }: TestSpecification) =>
      basename(moduleId) === `${mutated}.test.ts`
        ? -2
        : EXPENSIVE.findLastIndex((part) => moduleId.includes(part));
    return files.toSorted((a, b) => cost(a) - cost(b) || a.moduleId.localeCompare(b.moduleId));
  }
}

let sources: { name: string; text: string }[] | undefined;

/** The file of lib/ that StrykerJS has written this mutant into, without its extension. */
function fileOf(mutant: string): string | undefined {
  sources ??= globSync("lib/**/*.ts").map((file) => ({
    name: basename(file, ".ts"),
    text: readFileSync(file, "utf8"),
  }));
  return sources.find(({ text }) => text.includes(`stryMutAct_9fa48("${mutant}")`))?.name;
}
