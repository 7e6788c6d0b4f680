// Records what is charged and not recorded, one finding after the other, after asking.
import { recordsTable } from "../../lib/aws/records-table.ts";
import { confirm } from "../terminal/confirm.ts";
import { plural } from "../terminal/print.ts";
import { startProgress } from "../terminal/progress.ts";
import { table } from "../terminal/table.ts";
import type { Findings } from "./findings.ts";
import { repair } from "./repair.ts";
import type { Repaired } from "./repair.ts";
import type { Found } from "./report.ts";
import { verify } from "./verify.ts";
import type { Sources } from "./verify.ts";

/** Shows what would be written, asks, reads each finding again and repairs what still holds. */
export async function repairAll(
  { counts, first }: Found,
  findings: Findings,
  sources: Sources,
  recordTtlMs: number,
  options: { yes: boolean; signal: AbortSignal },
): Promise<Repaired[]> {
  const count = counts.not_recorded ?? 0;
  if (count === 0) {
    say("Nothing to repair: only what is charged and not recorded can be.");
    return [];
  }
  const shown = first.filter(({ kind }) => kind === "not_recorded");
  say(
    `\nTo be recorded in ${sources.tableName}:\n${table(
      ["message", "PaymentIntent", ""],
      shown.map(({ messageId, paymentIntentIds, sentence }) => [
        messageId,
        paymentIntentIds.join(", "),
        sentence,
      ]),
    )}`,
  );
  if (count > shown.length) say(`and ${count - shown.length} more: ${findings.file}`);
  if (!(await confirm(`Record ${plural(count, "outcome")}?`, options))) {
    say("Nothing was recorded.");
    return [];
  }
  const records = recordsTable(sources.table, sources.tableName);
  const repaired: Repaired[] = [];
  const progress = startProgress("repairing", count);
  for await (const finding of findings.all()) {
    if (options.signal.aborted) break;
    if (finding.kind !== "not_recorded") continue;
    const [fresh] = await verify([finding], sources, Date.now);
    repaired.push(
      fresh?.kind === "not_recorded"
        ? await repair(fresh, records, recordTtlMs, Date.now())
        : {
            messageId: finding.messageId,
            recorded: fresh === undefined,
            sentence: fresh?.sentence ?? "a worker has recorded it meanwhile",
          },
    );
    progress.advance();
  }
  progress.done();
  return repaired;
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
