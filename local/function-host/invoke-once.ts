// One event through a bundle in a fresh execution environment, without a trigger.
import { startEnvironment } from "./execution-environment.ts";
import { functionSettings } from "./function-settings.ts";
import type { GivenSettings } from "./function-settings.ts";
import type { InvocationResult, LogLine } from "./invocation.ts";

/** Invokes the function once, as a cold start, and leaves no process behind. */
export async function invokeOnce(
  given: GivenSettings,
  event: unknown,
  onLog: (line: LogLine) => void = () => {},
): Promise<InvocationResult> {
  const environment = startEnvironment(functionSettings(given), onLog);
  try {
    return await environment.invoke(JSON.stringify(event));
  } finally {
    environment.kill("SIGKILL");
    await environment.exited;
  }
}
