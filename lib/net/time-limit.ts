// A time limit for one call of an AWS client, its retries included. Its timer ends with the call.

/**
 * Runs a call that is aborted after `timeoutMs`. The signal of `AbortSignal.timeout` would stay until
 * then, and make an error for nobody. What that costs: bench/RESULTS.md.
 *
 * @throws what the call throws: an AbortError when it was aborted
 */
export async function withTimeLimit<T>(
  timeoutMs: number,
  call: (options: { abortSignal: AbortSignal }) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), Math.max(1, timeoutMs));
  try {
    return await call({ abortSignal: controller.signal });
  } finally {
    clearTimeout(timer);
  }
}
