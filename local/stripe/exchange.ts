import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";

import type { createDecide, Failure } from "./decide.ts";
import { failureOf, passingError } from "./faults.ts";
import type { createFaults, Fault, Stage } from "./faults.ts";
import { parseForm } from "./form.ts";
import { readBody, reply } from "./http.ts";
import type { createLedger } from "./ledger.ts";
import { textHash } from "./parameters.ts";

type Parts = {
  now: () => number;
  decide: ReturnType<typeof createDecide>;
  due: ReturnType<typeof createFaults>["due"];
  ledger: ReturnType<typeof createLedger>["write"];
  /** Waits real ms. */
  wait: (ms: number) => Promise<void>;
};

/** One request from its first byte to its answer, with the planned faults between the steps. */
export function createExchange({ now, decide, due, ledger, wait }: Parts) {
  return async function exchange(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { method = "GET", headers } = request;
    const [path = "", query = ""] = (request.url ?? "").split("?", 2);
    const body = await readBody(request);
    if (body === undefined) return;
    const params = parseForm(method === "GET" ? query : body);
    const record = ledger.request({
      id: `req_${randomBytes(7).toString("hex")}`,
      at: now(),
      method,
      path,
      idempotencyKey:
        method === "POST" ? headers["idempotency-key"]?.toString() || undefined : undefined,
      messageId: method === "POST" ? textHash(params, "metadata")["message_id"] : undefined,
    });
    const replyHeaders = {
      requestId: record.id,
      idempotencyKey: record.idempotencyKey,
      stripeVersion: headers["stripe-version"]?.toString(),
    };
    let failure: Failure | undefined;
    let slowMs = 0;

    /** Lets the faults of this stage happen. False when one of them has ended the request. */
    async function survives(stage: Stage, willExecute: boolean): Promise<boolean> {
      for (const fault of due(stage, record, willExecute)) {
        if (!(await happen(fault))) return false;
      }
      return true;
    }

    async function happen(fault: Fault): Promise<boolean> {
      switch (fault.kind) {
        case "dropBefore":
        case "dropAfter":
          request.socket.destroy();
          return false;
        case "refuse": {
          const answer = passingError(fault.error, record);
          record.status = answer.status;
          await reply(response, answer, replyHeaders);
          return false;
        }
        case "delayArrival":
        case "delayBefore":
        case "delayAfter":
          await wait(fault.ms);
          return true;
        case "slowBody":
          slowMs = fault.ms;
          return true;
        case "storedError":
        case "storedErrorAfterCharge":
          failure = failureOf(fault);
          return true;
        case "hook":
          await fault.run(record);
          return true;
      }
    }

    if (!(await survives("arriving", false))) return;
    const decision = decide(record, params, headers.authorization);
    const executes = decision.kind === "execute";
    await survives("received", executes);
    if (executes) ledger.executed(record);
    const answer = executes ? decision.run(failure) : decision.answer;
    const replayOf = executes ? undefined : decision.replayOf;
    if (replayOf !== undefined) ledger.replayed(record);
    if (!(await survives("applied", executes))) return;
    record.status = answer.status;
    await reply(response, answer, { ...replyHeaders, replayOf }, { ms: slowMs, wait });
  };
}
