// The house's own limits, which no linter rule holds.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..", "..");
const FILES = execFileSync("git", ["ls-files", "-z"], { cwd: ROOT, encoding: "utf8" })
  .split("\0")
  .filter((path) => /\.(?:ts|cjs|mjs|md|ya?ml|sh|html|json)$/.test(path))
  .filter((path) => !path.endsWith("package-lock.json") && !path.endsWith("tidy.test.ts"))
  .map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }));
const LIB = FILES.filter(({ path }) => path.startsWith("lib/"));

const pathsWith = (files: typeof FILES, found: RegExp): string[] =>
  files.filter(({ text }) => found.test(text)).map(({ path }) => path);

test("nothing in lib/ reads process.env: functions/ passes it in", () => {
  expect(LIB.length).toBeGreaterThan(50);
  expect(pathsWith(LIB, /process\.env/)).toStrictEqual([]);
});

test("no file in lib/ is longer than 180 lines", () => {
  const long = LIB.filter(({ text }) => text.split("\n").length > 180).map(({ path }) => path);
  expect(long).toStrictEqual([]);
});

// One word each: takeover, lookup, backoff, timeout. The others have a better word in docs/design.md.
test.each([
  /\b(?:take-over|look-up|back-off|time-out)s?\b/i,
  /\b(?:rehearsals?|breach(?:es)?|mistakes?)\b/i,
])("no page and no source says %s", (retired) => {
  expect(pathsWith(FILES, retired)).toStrictEqual([]);
});
