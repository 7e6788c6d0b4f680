// The pages against the repository: what they name has to be there.
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { expect, test } from "vitest";

import manifest from "../../package.json" with { type: "json" };

const ROOT = join(import.meta.dirname, "..", "..");
const ROOMS = "bench|chaos|cli|docs|events|functions|infra|lib|local|scripts|simulation|test";
const PAGES = globSync(["*.md", "{docs,bench,test/conformance}/*.md"], { cwd: ROOT })
  .toSorted()
  .map((page) => ({ page, text: readFileSync(join(ROOT, page), "utf8") }));

test.each(PAGES)("every file, link and npm script that $page names exists", ({ page, text }) => {
  const links = [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, link = ""]) =>
    join(dirname(page), link),
  );
  const files = [...text.matchAll(new RegExp(`\`((?:${ROOMS})/[\\w./-]*)\``, "g"))].map(
    ([, file = ""]) => file,
  );
  const run = [...text.matchAll(/npm run (?:--silent )?([\w:-]+)/g)].map(([, name = ""]) => name);

  expect([...links, ...files].filter((path) => !existsSync(join(ROOT, path)))).toStrictEqual([]);
  // The changelog's left column has names that are gone.
  expect(
    page === "CHANGELOG.md" ? [] : run.filter((name) => !(name in manifest.scripts)),
  ).toStrictEqual([]);
});
