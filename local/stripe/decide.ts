import type { createApiKeys } from "./api-keys.ts";
import { serverError, unknownUrl, withRequestLog } from "./errors.ts";
import type { Answer } from "./errors.ts";
import { canonicalParams } from "./form.ts";
import type { Params } from "./form.ts";
import type { createIdempotencyKeys } from "./idempotency.ts";
import type { RequestRecord } from "./ledger.ts";
import type { createRoutes } from "./routes.ts";

/** Failing an execution on purpose: before anything was done, or after all of it was. */
type Failure = "before" | "after";

export type Decision =
  | { kind: "answer"; answer: Answer; replayOf?: string }
  /** `run` carries the request out once, and stores its answer under the idempotency key. */
  | { kind: "execute"; run(failure?: Failure): Answer };

type Parts = {
  now: () => number;
  authenticate: ReturnType<typeof createApiKeys>["authenticate"];
  beginKey: ReturnType<typeof createIdempotencyKeys>;
  route: ReturnType<typeof createRoutes>;
};

/**
 * What becomes of a request, in Stripe's order: key of the account, endpoint, idempotency key,
 * parameters. Only what gets past all of them is carried out, and only its answer is stored:
 * https://docs.stripe.com/api/idempotent_requests.
 */
export function createDecide({ now, authenticate, beginKey, route }: Parts) {
  return function decide(request: RequestRecord, params: Params, authorization?: string): Decision {
    const logged = (answer: Answer) => withRequestLog(answer, request.id, now());

    const caller = authenticate(authorization);
    if ("refused" in caller) return { kind: "answer", answer: caller.refused };
    const { account } = caller;
    const found = route(request.method, request.path);
    if (!found) return { kind: "answer", answer: unknownUrl(request.method, request.path) };

    const key = request.idempotencyKey;
    const parameters = canonicalParams(params);
    const use = { account, endpoint: request.path, parameters, requestId: request.id };
    const held = key === undefined ? undefined : beginKey({ ...use, key });
    if (held?.kind === "replay") {
      return { kind: "answer", answer: held.answer, replayOf: held.originalRequestId };
    }
    if (held?.kind === "refused") return { kind: "answer", answer: logged(held.answer) };

    const problem = found.problem?.(params);
    if (problem) {
      held?.forget();
      return { kind: "answer", answer: logged(problem) };
    }
    return {
      kind: "execute",
      run(failure) {
        const done = failure === "before" ? undefined : found.run(params, { ...request, account });
        // Stripe says false here: its idempotency layer would only replay the failure.
        const answer = logged(done && failure !== "after" ? done : serverError(500, false));
        held?.store(answer);
        return answer;
      },
    };
  };
}
