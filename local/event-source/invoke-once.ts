import { startSandbox } from "./execution-environment.ts";
// One event through a bundle in a fresh sandbox, without a queue or a poller.
import { functionSettings } from "./function-settings.ts";
import type { InvocationResult, LogLine } from "./invocation.ts";

/**
 * Invokes the bundle once, as a cold start, and leaves no process behind.
 *
 * @param bundle absolute path of the CommonJS file that exports `handler`
 * @param timeoutMs the function's timeout, ms; the sandbox is killed when it is over
 */
export async function invokeOnce(
  bundle: string,
  event: unknown,
  env: Record<string, string>,
  timeoutMs: number,
  onLog: (line: LogLine) => void = () => {},
): Promise<InvocationResult> {
  const sandbox = startSandbox(functionSettings({ bundle, timeoutMs, env }), onLog);
  try {
    return await sandbox.invoke(JSON.stringify(event));
  } finally {
    sandbox.kill("SIGKILL");
    await sandbox.exited;
  }
}
