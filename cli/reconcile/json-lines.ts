// Files of one JSON object per line, which a killed process may have left with half a line.
import { createReadStream, existsSync } from "node:fs";
import { createInterface } from "node:readline";

/** The objects of the file, none when there is no file. Half a line, and an empty one, is left out. */
export async function* readLines<T>(file: string): AsyncGenerator<T> {
  if (!existsSync(file)) return;
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const object = parse(line);
    if (object) yield object as T;
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
