// EventBridge Scheduler → Lambda: invokes a function again and again, whatever became of the last time.
import type { LambdaFunction } from "../function-host/function.ts";
import type { SourceEvent } from "./events.ts";
import type { EventSource } from "./queue-source.ts";

export type ScheduleSettings = {
  /** Absent: only those who invoke it by hand do. */
  everyMs?: number;
  /** What the function gets. */
  input: object;
};

export function startSchedule(
  { everyMs, input }: ScheduleSettings,
  lambda: LambdaFunction,
  publish: (event: SourceEvent) => void,
): EventSource {
  let running: Promise<void> | undefined;
  const invoke = async (): Promise<void> => {
    const result = await lambda.invoke(input);
    const answer: unknown = result.ok ? JSON.parse(result.payload) : result.errorMessage;
    publish({ type: "scheduled", function: lambda.name, ok: result.ok, answer });
    running = undefined;
  };
  // One at a time, as with a reserved concurrency of one.
  const timer =
    everyMs === undefined ? undefined : setInterval(() => void (running ??= invoke()), everyMs);

  return {
    idle: async () => running,
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
