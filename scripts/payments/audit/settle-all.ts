// Records what is charged and not recorded, one finding after the other, after asking.
import { recordsTable } from "../../../lib/records.dynamodb.ts";
import { confirm } from "../confirm.ts";
import { plural, table } from "../print.ts";
import { startProgress } from "../progress.ts";
import type { Findings } from "./findings.ts";
import type { Found } from "./report.ts";
import { settle, type Settled } from "./settle.ts";
import { verify, type Sources } from "./verify.ts";

/** Shows what would be written, asks, reads each finding again and settles what still holds. */
export async function settleAll(
  { counts, first }: Found,
  findings: Findings,
  sources: Sources,
  recordTtlMs: number,
  options: { yes: boolean; signal: AbortSignal },
): Promise<Settled[]> {
  const count = counts.not_recorded ?? 0;
  if (count === 0) {
    say("Nothing to settle: only what is charged and not recorded can be.");
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
  const settled: Settled[] = [];
  const progress = startProgress("settling", count);
  for await (const finding of findings.all()) {
    if (options.signal.aborted) break;
    if (finding.kind !== "not_recorded") continue;
    const [fresh] = await verify([finding], sources, Date.now);
    settled.push(
      fresh?.kind === "not_recorded"
        ? await settle(fresh, records, recordTtlMs, Date.now())
        : {
            messageId: finding.messageId,
            recorded: fresh === undefined,
            sentence: fresh?.sentence ?? "a worker has recorded it meanwhile",
          },
    );
    progress.advance();
  }
  progress.done();
  return settled;
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
