// The proof catches what it should: each seeded bug breaks a rule, in a schedule that the real code
// passes.
import { readFile } from "node:fs/promises";

import { expect, test } from "vitest";

import { SEEDED_BUGS } from "../../simulation/seeded-bugs.ts";
import { MOST_TELLING, renderPage } from "../../simulation/seeded-bugs/what-breaks.ts";
import { inThread } from "./in-thread.ts";
import type { Caught } from "./seeded-bugs.worker.ts";

const caught = await inThread<Caught[]>("./seeded-bugs.worker.ts");

// When lib/ changes, `npm run what-breaks` searches new schedules where the known ones break nothing.
test.each(SEEDED_BUGS.map(({ name }) => name))("a worker that %s is caught", (name) => {
  const { withBug, real } = caught.find((one) => one.name === name) ?? {};

  expect(withBug?.rule).toEqual(expect.any(String));
  expect(real).toBeUndefined();
});

test("docs/what-breaks.md is what `npm run what-breaks` writes", async () => {
  const page = await readFile(new URL("../../docs/what-breaks.md", import.meta.url), "utf8");
  const shown = caught.flatMap(({ name, withBug }) =>
    withBug && MOST_TELLING.includes(name) ? [withBug] : [],
  );

  expect(shown).toHaveLength(10);
  expect(page).toBe(renderPage(shown));
});
