// The lines of a log file as they are written.
import { open } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 200;
const CHUNK_BYTES = 65_536;

/** Every whole line of the file, and those that come, until `signal` is aborted. */
export async function* followFile(file: string, signal: AbortSignal): AsyncGenerator<string> {
  const handle = await open(file, "r");
  try {
    const buffer = Buffer.alloc(CHUNK_BYTES);
    const decoder = new TextDecoder();
    let rest = "";
    while (!signal.aborted) {
      const { bytesRead } = await handle.read(buffer, 0, CHUNK_BYTES);
      if (bytesRead === 0) {
        await sleep(POLL_MS, undefined, { signal }).catch(() => {});
        continue;
      }
      const lines =
        `${rest}${decoder.decode(buffer.subarray(0, bytesRead), { stream: true })}`.split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
  } finally {
    await handle.close();
  }
}
