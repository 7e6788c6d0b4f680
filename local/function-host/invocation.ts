// What an execution environment and the runtime inside it exchange, and what comes of an invocation.

/** What the parent sends to the runtime in the child. */
export type Order = {
  requestId: string;
  /** The event as JSON: Lambda passes a string, so the handler shares no object with anyone. */
  payload: string;
  /** ms since the epoch, as in Lambda's `Lambda-Runtime-Deadline-Ms` header. */
  deadline: number;
  invokedFunctionArn: string;
};

/** How the runtime answers an order. */
export type Answer =
  | { type: "response"; payload: string; memory: Memory }
  | { type: "error"; errorType: string; errorMessage: string };

/** What its process holds once an invocation is over. */
export type Memory = { heapBytes: number; rssBytes: number };

/** What the runtime in the child reports to the parent. */
export type Report =
  | Answer
  | { type: "ready" }
  /** The process is about to end, and why. */
  | { type: "last-words"; errorType: string; errorMessage: string };

export type FailureReason = "error" | "timeout" | "crash" | "throttle";

export type Failure = { reason: FailureReason; errorType: string; errorMessage: string };

export type InvocationResult =
  | { ok: true; requestId: string; payload: string; memory?: Memory }
  | ({ ok: false; requestId: string } & Failure);

export type LogLine = { stream: "stdout" | "stderr"; line: string };
