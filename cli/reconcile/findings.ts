// What a reconciliation has found, on disk: there may be more than fit into memory, or on a screen.
import { appendFile } from "node:fs/promises";
import { join } from "node:path";

import type { Finding } from "../../lib/reconcile/finding.ts";
import { readLines } from "./json-lines.ts";

export type Findings = ReturnType<typeof openFindings>;

export function openFindings(folder: string) {
  const file = join(folder, "findings.jsonl");
  return {
    file,
    async add(findings: readonly Finding[]): Promise<void> {
      const lines = findings.map((finding) => `${JSON.stringify(finding)}\n`);
      // On a line of its own, also after half a line of a killed reconciliation.
      if (lines.length > 0) await appendFile(file, `\n${lines.join("")}`);
    },
    /** Each message id once: a part that was interrupted was compared again. */
    async *all(): AsyncGenerator<Finding> {
      const seen = new Set<string>();
      for await (const finding of readLines<Finding>(file)) {
        if (seen.has(finding.messageId)) continue;
        seen.add(finding.messageId);
        yield finding;
      }
    },
  };
}
