// What a reconciliation has found, on disk: there may be more than fit into memory, or on a screen.
import { existsSync, createReadStream } from "node:fs";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";

import type { Finding } from "./verify.ts";

export type Findings = {
  file: string;
  add: (findings: readonly Finding[]) => Promise<void>;
  /** Each message id once: a part that was interrupted was compared again. */
  all: () => AsyncIterable<Finding>;
};

export function openFindings(folder: string): Findings {
  const file = join(folder, "findings.jsonl");
  return {
    file,
    async add(findings) {
      const lines = findings.map(
        ({ messageId, kind, sentence, paymentIntentIds }) =>
          `${JSON.stringify({ messageId, kind, sentence, paymentIntentIds })}\n`,
      );
      // On a line of its own, also after half a line of a killed reconciliation.
      if (lines.length > 0) await appendFile(file, `\n${lines.join("")}`);
    },
    async *all() {
      if (!existsSync(file)) return;
      const seen = new Set<string>();
      for await (const line of createInterface({ input: createReadStream(file) })) {
        const finding = parse(line);
        if (!finding || seen.has(finding.messageId)) continue;
        seen.add(finding.messageId);
        yield finding;
      }
    },
  };
}

function parse(line: string): Finding | undefined {
  try {
    return JSON.parse(line) as Finding;
  } catch {
    return undefined; // half a line, or none
  }
}
