// How far the poller slows down after failed invocations.

export type Backoff = {
  /** An invocation failed as a whole: error, timeout or crash. Returns the pause that follows, ms. */
  failed(): number;
  /** An invocation was answered, partial failures or not: the pause is over. */
  succeeded(): void;
  /** No more than this many invocations may be in flight. */
  concurrency(): number;
  /** ms that are left of the pause. */
  remainingMs(): number;
};

/**
 * After a function error Lambda backs off by reducing the concurrency of the mapping; it publishes
 * no figures. Here: one invocation at a time and a pause that doubles from `base` to `max`
 * until an invocation succeeds. Partial batch responses slow nothing down.
 * https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html
 */
export function startBackoff(settings: {
  base: number;
  max: number;
  concurrency: number;
  now: () => number;
}): Backoff {
  let failures = 0;
  let resumeAt = 0;
  return {
    failed() {
      // Invocations that fail together are one reason to slow down, not many.
      if (settings.now() < resumeAt) return resumeAt - settings.now();
      failures += 1;
      // Beyond 2^30 the doubling has long passed any bound.
      const pauseMs = Math.min(settings.max, settings.base * 2 ** Math.min(failures - 1, 30));
      resumeAt = settings.now() + pauseMs;
      return pauseMs;
    },
    succeeded() {
      failures = 0;
      resumeAt = 0;
    },
    concurrency: () => (failures === 0 ? settings.concurrency : 1),
    remainingMs: () => Math.max(0, resumeAt - settings.now()),
  };
}
