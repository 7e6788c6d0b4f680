// Takes the place of lib/net/time-limit.ts in the simulation: the scheduler decides which calls come
// too late, by their options.

/** The same interface as the real one; virtual time is in whole ms. */
export function withTimeLimit<T>(
  timeoutMs: number,
  call: (options: { timeoutMs: number }) => Promise<T>,
): Promise<T> {
  return call({ timeoutMs: Math.max(1, Math.floor(timeoutMs)) });
}
