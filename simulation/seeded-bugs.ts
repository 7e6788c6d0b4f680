// Bugs that people write into this protocol, each as a small edit of the real code. The proof is
// worth something only if it catches every one.

import { readFileSync, writeFileSync } from "node:fs";

import type { Rule } from "./checkers/rules.ts";
import type { Edit, SeededBug } from "./seeded-bugs/load-worker.ts";

/** The files in seeded-bugs/, and the family in which their bugs show. */
const FILES: readonly { file: string; family?: SeededBug["family"] }[] = [
  { file: "acknowledging" },
  { file: "claims" },
  { file: "money" },
  { file: "look-alikes" },
  { file: "lost-records" },
  { file: "answers" },
  { file: "windows" },
  { file: "outcomes", family: "random outcomes" },
  { file: "orders", family: "random orders" },
];

/** The code of a bug's schedule, behind its name. */
const CODE = / \[([^\]]*)\]$/;

export const SEEDED_BUGS: readonly SeededBug[] = FILES.flatMap(({ file, family }) => {
  return readBugs(readFileSync(fileOf(file), "utf8")).map((bug) =>
    family ? { ...bug, family } : bug,
  );
});

function fileOf(name: string): URL {
  return new URL(`seeded-bugs/${name}.diff`, import.meta.url);
}

/** Writes the code of each bug's schedule behind its name. */
export function writeCodes(codes: ReadonlyMap<string, string>): void {
  for (const { file } of FILES) {
    const lines = readFileSync(fileOf(file), "utf8").split("\n");
    const written = lines.map((line) => {
      const name = line.replace(CODE, "");
      return codes.has(name) ? `${name} [${codes.get(name)}]` : line;
    });
    writeFileSync(fileOf(file), written.join("\n"));
  }
}

/**
 * Reads bugs: a name, and the code of the shortest schedule in which it breaks a rule; below it,
 * indented, its lesson and the rule that shows it best; and its edits, each with its file in lib/, the
 * text that is replaced (`-`), and what replaces it (`+`).
 */
function readBugs(text: string): SeededBug[] {
  const bugs: (SeededBug & { edits: Edit[] })[] = [];
  for (const line of text.split("\n")) {
    const [sign, rest] = [line.slice(0, 1), line.slice(1)];
    const bug = bugs.at(-1);
    const edit = bug?.edits.at(-1);
    if (sign === "") continue;
    else if (sign === "@") bug?.edits.push({ file: rest.trim(), find: "", replace: "" });
    else if (sign === "-" && edit) edit.find = joined(edit.find, rest);
    else if (sign === "+" && edit) edit.replace = joined(edit.replace, rest);
    else if (bug && line.startsWith("  shows: ")) bug.shows = line.slice(9) as Rule;
    else if (bug && sign === " ") bug.lesson = rest.trim();
    else {
      const [name = line, code] = line.split(CODE);
      bugs.push({ name, code, lesson: "", edits: [] });
    }
  }
  return bugs;
}

function joined(text: string, line: string): string {
  return text === "" ? line : `${text}\n${line}`;
}
