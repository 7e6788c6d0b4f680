// One request to Stripe from its first byte to its answer, as the HTTP front runs it.
import { randomBytes } from "node:crypto";

import type { Exchange, HttpRequest, Reply } from "../http-exchange.ts";
import type { createDecide, Decision } from "./decide.ts";
import type { Answer } from "./errors.ts";
import { passingError } from "./faults.ts";
import type { OwnFault } from "./faults.ts";
import { parseForm } from "./form.ts";
import type { createLedger, RequestRecord } from "./ledger.ts";
import { textHash } from "./parameters.ts";

type Parts = {
  now: () => number;
  decide: ReturnType<typeof createDecide>;
  ledger: ReturnType<typeof createLedger>["write"];
};

export function createExchange({ now, decide, ledger }: Parts) {
  return function exchange(request: HttpRequest): Exchange<RequestRecord, OwnFault> {
    const { method, url, headers, body } = request;
    const [path = "", query = ""] = url.split("?", 2);
    const params = parseForm(method === "GET" ? query : body.toString());
    const isPost = method === "POST";
    const record = ledger.request({
      id: `req_${randomBytes(7).toString("hex")}`,
      at: now(),
      method,
      path,
      idempotencyKey: isPost ? headers["idempotency-key"]?.toString() || undefined : undefined,
      messageId: isPost ? textHash(params, "metadata")["message_id"] : undefined,
    });
    const version = headers["stripe-version"]?.toString();
    let decision: Decision | undefined;

    return {
      seen: record,
      onFault: (kind) => void record.faults.push(kind),
      takes: ({ kind }) => kind === "refuse" || decision?.kind === "execute",
      refuse: (fault) =>
        fault.kind === "refuse"
          ? replyOf(passingError(fault.error, record), record, version)
          : undefined,
      receive() {
        decision = decide(record, params, headers.authorization);
      },
      apply([fault]) {
        if (!decision) throw new Error("Bug! A request was applied before it was received.");
        if (decision.kind === "answer") {
          const { answer, replayOf } = decision;
          if (replayOf !== undefined) ledger.replayed(record);
          return replyOf(answer, record, version, replayOf);
        }
        ledger.executed(record);
        const failure = fault && (fault.kind === "storedError" ? "before" : "after");
        return replyOf(decision.run(failure), record, version);
      },
      onReply: ({ status }) => void (record.status = status),
    };
  };
}

/** `replayOf` is set when the answer is a stored one: the request that it was first given to. */
function replyOf(
  answer: Answer,
  { id, idempotencyKey }: RequestRecord,
  version: string | undefined,
  replayOf?: string,
): Reply {
  return {
    status: answer.status,
    headers: {
      "Content-Type": "application/json",
      "Request-Id": id,
      ...(idempotencyKey !== undefined && {
        "Idempotency-Key": idempotencyKey,
        "Original-Request": replayOf ?? id,
      }),
      ...(replayOf !== undefined && { "Idempotent-Replayed": "true" }),
      ...(version !== undefined && { "Stripe-Version": version }),
      ...(answer.shouldRetry !== undefined && {
        "Stripe-Should-Retry": String(answer.shouldRetry),
      }),
    },
    body: JSON.stringify(answer.body),
  };
}
