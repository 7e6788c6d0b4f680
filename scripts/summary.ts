// What a local stack has done with the messages it was sent, by its servers: the last line of npm start.
import { collectEvidence } from "../chaos/harness/evidence.ts";
import { lastLine } from "../chaos/harness/report.ts";
import { isKept, reachVerdict } from "../chaos/harness/verdict.ts";
import { handle } from "../local/feed.ts";
import type { StackEvent } from "../local/stack-event.ts";
import type { Stack } from "../local/stack.ts";
import { describeBody } from "./describe-body.ts";

/** Follows the stack. Stop its worker before you call what is returned. */
export function createSummary(stack: Stack): () => Promise<string> {
  const bodies = new Set<string>();
  let deliveries = 0;
  stack.feed.subscribe(
    handle<StackEvent>({
      "message sent"({ queue, body }) {
        if (queue === "payments") bodies.add(body);
      },
      invoked({ function: name, messages }) {
        if (name === stack.worker.name) deliveries += messages.length;
      },
    }),
  );
  const readEvidence = collectEvidence(stack);

  return async () => {
    const sent = [...bodies].map(describeBody);
    const ids = new Set(sent.map(({ id }) => id));
    const evidence = await readEvidence(sent);
    // Not what npm run invoke or a person charged, past the queue.
    const charges = evidence.charges.filter(({ messageId = "" }) => ids.has(messageId));
    const verdict = reachVerdict({ ...evidence, charges });
    const counts = {
      messages: verdict.rows.length,
      deliveries,
      charges: verdict.charges,
      "double charges": verdict.doubled,
      lost: verdict.lost.length,
      open: verdict.open.length,
    };
    return lastLine(counts, isKept(verdict, true));
  };
}
