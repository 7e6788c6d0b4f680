// Bugs that people write into this protocol, each as a small edit of the real code. The proof is
// worth something only if it catches every one.

import { readFileSync } from "node:fs";

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

export const SEEDED_BUGS: readonly SeededBug[] = FILES.flatMap(({ file, family }) => {
  const text = readFileSync(new URL(`seeded-bugs/${file}.diff`, import.meta.url), "utf8");
  return readBugs(text).map((bug) => (family ? { ...bug, family } : bug));
});

/**
 * Reads bugs: a name; below it, indented, its lesson and the rule that shows it best; and its edits, each
 * with its file in lib/, the text that is replaced (`-`), and what replaces it (`+`).
 */
function readBugs(text: string): SeededBug[] {
  const bugs: { name: string; lesson: string; shows?: Rule; edits: Edit[] }[] = [];
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
    else bugs.push({ name: line, lesson: "", edits: [] });
  }
  return bugs;
}

function joined(text: string, line: string): string {
  return text === "" ? line : `${text}\n${line}`;
}
