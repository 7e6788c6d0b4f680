// Waiting for a condition.

/** Resolves with true once `condition` holds, with false when it does not within `timeoutMs`. */
export async function until(
  timeoutMs: number,
  condition: () => boolean | Promise<boolean>,
): Promise<boolean> {
  const giveUpAt = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > giveUpAt) return false;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return true;
}
