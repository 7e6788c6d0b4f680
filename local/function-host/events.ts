// What the function host publishes: the life of its execution environments, and their output.

export type FunctionEvent = { function: string; pid: number } & (
  | { type: "environment started" }
  /** `how` is the runtime's sentence, such as "exited with error: signal: SIGKILL". */
  | { type: "environment ended"; how: string; wasBusy: boolean }
  | { type: "log"; stream: "stdout" | "stderr"; line: string }
);
