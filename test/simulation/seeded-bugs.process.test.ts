// The proof catches what it should: each seeded bug breaks a rule, in a schedule that the real code
// passes.
import { readFile } from "node:fs/promises";
import { Worker } from "node:worker_threads";

import { expect, test } from "vitest";

import { SEEDED_BUGS } from "../../simulation/seeded-bugs.ts";
import { MOST_TELLING, renderPage } from "../../simulation/seeded-bugs/what-breaks.ts";
import type { Caught } from "./seeded-bugs.worker.ts";

// The simulation replaces a thread's timers: it runs in a thread of its own.
const caught = await new Promise<Caught[]>((resolve, reject) => {
  const url = new URL("./seeded-bugs.worker.ts", import.meta.url);
  const worker = new Worker(url);
  worker.once("message", resolve);
  worker.once("error", reject);
});

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
