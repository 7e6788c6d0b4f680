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
  const running = new Set<Promise<void>>();
  const invoke = async (): Promise<void> => {
    const result = await lambda.invoke(input);
    const answer: unknown = result.ok ? JSON.parse(result.payload) : result.errorMessage;
    publish({ type: "scheduled", function: lambda.name, ok: result.ok, answer });
  };
  const timer =
    everyMs === undefined
      ? undefined
      : setInterval(() => {
          const one = invoke().finally(() => void running.delete(one));
          running.add(one);
        }, everyMs);

  return {
    idle: async () => void (await Promise.all(running)),
    async stop() {
      clearInterval(timer);
      await Promise.all(running);
    },
  };
}
