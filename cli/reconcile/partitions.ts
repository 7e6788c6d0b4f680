// What a reconciliation has read, on disk and split by message id: one part at a time fits into memory,
// however many records there are.
import { hash } from "node:crypto";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";

import type { Entry } from "../../lib/reconcile/compare.ts";
import { readLines } from "./json-lines.ts";

// Ten million records make 40,000 a part.
const PARTS = 256;
const BUFFER_CHARACTERS = 32_768;

export type Partitions = ReturnType<typeof openPartitions>;

export function openPartitions(folder: string) {
  const buffers = new Map<number, string>();
  const begun = new Set<number>();
  let writing: Promise<void> = Promise.resolve();
  const fileOf = (part: number): string => join(folder, `part-${part}.jsonl`);

  const write = (part: number): void => {
    const text = buffers.get(part);
    buffers.delete(part);
    if (!text) return;
    // A killed reconciliation may have left half a line: what is added now begins on one of its own.
    const start = begun.has(part) ? "" : "\n";
    begun.add(part);
    writing = writing.then(() => appendFile(fileOf(part), start + text));
  };

  return {
    parts: PARTS,
    add(entry: Entry): void {
      const part = hash("sha1", entry.messageId, "buffer").readUInt32BE() % PARTS;
      const text = `${buffers.get(part) ?? ""}${JSON.stringify(entry)}\n`;
      buffers.set(part, text);
      if (text.length > BUFFER_CHARACTERS) write(part);
    },
    /** Writes what is buffered; resolves when the part files hold every entry added so far. */
    async flush(): Promise<void> {
      for (const part of buffers.keys()) write(part);
      await writing;
    },
    /** The entries of one part. An interrupted reconciliation may have written some of them twice. */
    read: (part: number) => readLines<Entry>(fileOf(part)),
  };
}
