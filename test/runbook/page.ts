// docs/runbook.md as its tests read it.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const PAGE = readFileSync(join(import.meta.dirname, "..", "..", "docs", "runbook.md"), "utf8");
const [WORKER = "", AROUND = ""] = PAGE.split("\n# Around the worker\n");

export type Section = { text: string; commands: string[] };

/** Each section of the worker's half with the commands in it, and each of the parts around it. */
export const SECTIONS = sectionsOf(WORKER, "sh");
export const AROUND_SECTIONS = sectionsOf(AROUND, "");

function sectionsOf(half: string, language: string): Map<string, Section> {
  const fence = new RegExp(`\`\`\`${language}\\n([\\s\\S]+?)\`\`\``, "g");
  return new Map(
    half
      .split(/^## /m)
      .slice(1)
      .map((section) => {
        const [name = "", ...rest] = section.split("\n");
        const text = rest.join("\n");
        const commands = [...text.matchAll(fence)].flatMap(([, block = ""]) =>
          block.trim().split("\n"),
        );
        return [name, { text, commands }] as const;
      }),
  );
}

/** The commands of the table of the section Practice, by alarm. */
export const PRACTICE: ReadonlyMap<string, { provoke: string[]; end: string[] }> = new Map(
  [...(SECTIONS.get("Practice")?.text ?? "").matchAll(/^\| (\w+) \| (.*?) ?\| (.*?) ?\|$/gm)]
    .filter(([, name]) => name !== "alarm")
    .map(([, name = "", provoke = "", end = ""]) => [
      name,
      { provoke: commandsIn(provoke), end: commandsIn(end) },
    ]),
);

function commandsIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, command = ""]) => command);
}
