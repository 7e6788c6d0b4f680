// Message ids as a person names them.
import { UsageError } from "./command.ts";

/** @throws UsageError for an empty one: a variable of the shell that was never set */
export function refuseEmptyIds(ids: readonly string[]): void {
  if (ids.some((id) => id.trim() === "")) {
    throw new UsageError("A message id is empty: set ID first.");
  }
}
