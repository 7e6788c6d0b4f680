// The proof has teeth: each mistake that people make is caught, and by a schedule that the real
// code passes.
import { readFile } from "node:fs/promises";
import { Worker } from "node:worker_threads";

import { expect, test } from "vitest";

import { SEEDED_BUGS } from "../../simulation/seeded-bugs.ts";
import { renderWhatBreaks } from "../../simulation/what-breaks.ts";
import type { Shown } from "../../simulation/what-breaks.ts";
import type { Told } from "./tell.worker.ts";

const codes = JSON.parse(
  await readFile(new URL("../../simulation/counterexamples.json", import.meta.url), "utf8"),
) as Record<string, string>;

// The simulation replaces a thread's timers: it runs in a thread of its own.
const told = await new Promise<Told[]>((resolve, reject) => {
  const worker = new Worker(new URL("./tell.worker.ts", import.meta.url), { workerData: codes });
  worker.once("message", resolve);
  worker.once("error", reject);
});

// When lib/ changes, `npm run what-breaks` searches what broke nothing any more.
test.each(SEEDED_BUGS.map(({ name }) => name))("a worker that %s is caught", (name) => {
  const { mistaken, real } = told.find((one) => one.name === name) ?? {};

  expect(mistaken?.rule).toEqual(expect.any(String));
  expect(real).toBeUndefined();
});

test("docs/what-breaks.md is what `npm run what-breaks` writes", async () => {
  const page = await readFile(new URL("../../docs/what-breaks.md", import.meta.url), "utf8");
  const shown = SEEDED_BUGS.map((mistake): Shown => {
    const { code = "", mistaken } = told.find(({ name }) => name === mistake.name) ?? {};
    return { mistake, code, rule: mistaken?.rule ?? "ends", trace: mistaken?.text ?? "" };
  });

  expect(page).toBe(renderWhatBreaks(shown));
});
