// Work that runs once in a batch, however many deliveries of it the batch holds.

/** `copy` is true for a delivery that waited for another of the same key and content. */
export type OncePerKey<Result> = (
  key: string,
  content: string,
  run: () => Promise<Result>,
) => Promise<{ result: Result; copy: boolean }>;

/** For one batch. Other content under the same key runs after the first, and never beside it. */
export function createOncePerKey<Result>(): OncePerKey<Result> {
  const running = new Map<string, { content: string; result: Promise<Result> }[]>();
  return async (key, content, run) => {
    const runs = running.get(key) ?? [];
    running.set(key, runs);
    const same = runs.find((other) => other.content === content);
    if (same) return { result: await same.result, copy: true };
    const before = runs.at(-1)?.result;
    const result = before ? before.then(run, run) : run();
    runs.push({ content, result });
    return { result: await result, copy: false };
  };
}
