// Reads a handler's answer as the event source mapping does when ReportBatchItemFailures is on.

import type { InvocationResult } from "../function-host/invocation.ts";

export type BatchResult =
  | { valid: true; failed: string[] }
  /** Lambda takes the whole batch for failed. */
  | { valid: false; problem: string };

/** Of an invocation: one that failed fails the whole batch. */
export function readBatchResult(
  result: InvocationResult,
  batchIds: readonly string[],
): BatchResult {
  return result.ok
    ? readBatchResponse(result.payload, new Set(batchIds))
    : { valid: false, problem: result.errorMessage };
}

/**
 * The ids (message ids, sequence numbers) that the answer reports as failed; every other message may be deleted.
 * An absent or empty list is complete success. Anything malformed, an id that is not in the batch
 * included, fails the whole batch.
 * https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html
 */
export function readBatchResponse(payload: string, batchIds: ReadonlySet<string>): BatchResult {
  let response: unknown;
  try {
    response = JSON.parse(payload);
  } catch {
    return { valid: false, problem: "the response is not JSON" };
  }
  if (response === null) return { valid: true, failed: [] };
  if (typeof response !== "object" || Array.isArray(response)) {
    return { valid: false, problem: "the response is not an object" };
  }
  const failures = (response as { batchItemFailures?: unknown }).batchItemFailures ?? [];
  if (!Array.isArray(failures)) {
    return { valid: false, problem: "batchItemFailures is not a list" };
  }
  const failed = new Set<string>();
  for (const failure of failures as unknown[]) {
    const id = (failure as { itemIdentifier?: unknown } | null)?.itemIdentifier;
    if (typeof id !== "string" || id === "") {
      return { valid: false, problem: "an itemIdentifier is missing, null, empty or not a string" };
    }
    if (!batchIds.has(id)) {
      return { valid: false, problem: `itemIdentifier "${id}" is not in this batch` };
    }
    failed.add(id);
  }
  return { valid: true, failed: [...failed] };
}
