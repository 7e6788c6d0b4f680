// EventBridge's PutEvents on a laptop, with the bus behind it.
import { startAwsJsonServer } from "../aws-json-server.ts";
import type { AwsJsonServer } from "../aws-json-server.ts";
import { errorReply, okReply } from "../aws-json.ts";
import { createBus } from "./bus.ts";
import type { Bus, BusEvent, PutEntry, PutResult } from "./bus.ts";

/** What the log and the faults know of a request: the ids of the CloudEvents in it. */
export type BusRequest = { ids: string[] };

/** Every entry whose CloudEvent has this id fails with `code`, in an answer that is a 200. */
export type FailEntry = { kind: "failEntry"; id: string; code: string };

export type BusServer = AwsJsonServer<BusRequest, FailEntry> & { bus: Bus };

const MAX_ENTRIES = 10;

/**
 * @param options.port 0 or absent for any free one
 * @param options.send sends a message to a queue
 * @throws when the port is taken
 */
export async function startBus(options: {
  port?: number;
  now?: () => number;
  send: (queueUrl: string, body: string) => Promise<void>;
  onEvent?: (event: BusEvent) => void;
}): Promise<BusServer> {
  const now = options.now ?? Date.now;
  const bus = createBus({ ...options, now });

  function put(entry: PutEntry, injected: readonly FailEntry[]): PutResult {
    const fault = injected.find(({ id }) => id === idOf(entry));
    if (!fault) return bus.put([entry])[0] as PutResult;
    return { ErrorCode: fault.code, ErrorMessage: "A fault that was asked for." };
  }

  const server = await startAwsJsonServer<BusRequest, FailEntry>({
    port: options.port ?? 0,
    now,
    describe: (_operation, input) => ({ ids: entriesOf(input).map(idOf) }),
    answer({ operation, input }, _seen, injected) {
      if (operation !== "PutEvents") {
        return errorReply(400, "UnknownOperationException", `${operation} is not here.`);
      }
      const entries = entriesOf(input);
      if (entries.length === 0 || entries.length > MAX_ENTRIES) {
        return errorReply(
          400,
          "ValidationException",
          `1 validation error detected: Value at 'entries' failed to satisfy constraint: Member must have length between 1 and ${MAX_ENTRIES}`,
        );
      }
      const results = entries.map((entry) => put(entry, injected));
      const FailedEntryCount = results.filter((result) => "ErrorCode" in result).length;
      return okReply({ FailedEntryCount, Entries: results });
    },
  });

  return {
    ...server,
    bus,
    async stop() {
      await server.stop();
      await bus.idle();
    },
  };
}

function entriesOf(input: Record<string, unknown>): PutEntry[] {
  return Array.isArray(input["Entries"]) ? (input["Entries"] as PutEntry[]) : [];
}

function idOf({ Detail }: PutEntry): string {
  try {
    const detail = JSON.parse(Detail ?? "") as { id?: unknown } | null;
    return typeof detail?.id === "string" ? detail.id : "";
  } catch {
    return "";
  }
}
