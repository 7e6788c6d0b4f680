// What the function host publishes: invocations, the life of its execution environments, and their output.
import type { FailureReason } from "./invocation.ts";

export type FunctionEvent = EnvironmentEvent | InvocationEvent;

/** However it was triggered. */
type InvocationEvent = {
  type: "invocation ended";
  function: string;
  requestId: string;
  ms: number;
  result: "ok" | FailureReason;
};

type EnvironmentEvent = { function: string; pid: number } & (
  | { type: "environment started" }
  /** By hand, not by a fault that was planned. */
  | { type: "environment signaled"; signal: NodeJS.Signals }
  /** `how` is the runtime's sentence, such as "exited with error: signal: SIGKILL". */
  | { type: "environment ended"; how: string; wasBusy: boolean }
  | { type: "log"; stream: "stdout" | "stderr"; line: string }
);
