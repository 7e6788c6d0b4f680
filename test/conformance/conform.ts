// Runs a list of scenarios against one implementation. What the implementation is known to do
// otherwise is written down with it, and is expected to fail: a difference that has gone is an error.

import { afterAll, beforeAll, test } from "vitest";

export type Scenario<Subject> = {
  /** What is true of AWS or Stripe. */
  name: string;
  /** The document that says so. */
  source: string;
  run: (subject: Subject) => Promise<void>;
};

/** Scenarios by their names, all of which one document says. */
export function documentedBy<Subject>(
  source: string,
  scenarios: Readonly<Record<string, Scenario<Subject>["run"]>>,
): Scenario<Subject>[] {
  return Object.entries(scenarios).map(([name, run]) => ({ name, source, run }));
}

/** By the scenario's name: what the implementation does instead. */
type Differences = Readonly<Record<string, string>>;

/** Each scenario gets a subject of its own; they run at the same time, unless they are to be alone. */
export function conform<Subject>(
  scenarios: readonly Scenario<Subject>[],
  subject: () => Subject | Promise<Subject>,
  differences: Differences = {},
  { alone = false } = {},
): void {
  const start = alone ? test : test.concurrent;
  const names = new Set(scenarios.map(({ name }) => name));
  for (const name of Object.keys(differences)) {
    if (!names.has(name)) throw new Error(`A difference names no scenario: "${name}".`);
  }
  for (const { name, run } of scenarios) {
    const instead = differences[name];
    // The scenarios hold the assertions, and their names.
    // oxlint-disable vitest/expect-expect, vitest/valid-title
    const against = async (): Promise<void> => run(await subject());
    if (instead === undefined) start(name, against);
    else start.fails(`DIFFERS: ${name} (${instead})`, against);
    // oxlint-enable vitest/expect-expect, vitest/valid-title
  }
}

/** Has the server for the tests of this file, or of the `describe` that asks. */
export function during<Server extends { stop: () => Promise<unknown> }>(
  start: () => Promise<Server>,
): () => Server {
  let server: Server | undefined;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server?.stop());
  return () => {
    if (!server) throw new Error("The server has not started.");
    return server;
  };
}
