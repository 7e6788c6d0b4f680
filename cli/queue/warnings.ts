// What an operator must know about a peek: it may not have seen everything.
import { plural } from "../terminal/print.ts";
import { duration } from "../terminal/progress.ts";
import type { Depth, Peek } from "./peek.ts";

/** What an operator must know about a peek that saw this many messages. `depth` is from before it. */
export function warnings(
  { complete, notGivenBack, hiddenSeconds }: Peek,
  { visible, inFlight }: Depth,
  seen: number,
): string[] {
  // What SQS counted as in flight may have become visible in time to be seen.
  const unseen = visible + inFlight - seen;
  return [
    ...(complete ? [] : ["This is not all: it was interrupted, or SQS had no room left."]),
    ...(notGivenBack > 0
      ? [
          `${plural(notGivenBack, "message")} could not be given back at once: hidden for ${duration(hiddenSeconds * 1_000)} at most.`,
        ]
      : []),
    ...(complete && inFlight > 0 && unseen > 0
      ? [
          `${plural(unseen, "more message")} in flight: received by another reader, such as a redrive, and hidden until its visibility timeout ends.`,
        ]
      : []),
  ];
}
