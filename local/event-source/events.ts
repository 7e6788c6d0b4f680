// What an event source publishes of the batches that it delivers. Message ids here are SQS's.
import type { FailureReason, Memory } from "../function-host/invocation.ts";

export type DeliveredMessage = {
  messageId: string;
  receiptHandle: string;
  body: string;
  receiveCount: number;
};

export type SourceEvent = { function: string } & (
  | {
      /** The batch is received and has its execution environment, which gets it right after this. */
      type: "invoked";
      requestId: string;
      pid: number;
      cold: boolean;
      messages: DeliveredMessage[];
      /** How old the first change of a stream is. */
      ageMs?: number;
    }
  /** These changes of a stream are given up. */
  | { type: "given up"; count: number }
  /** `failures` are the ids that the function answered with; the others are deleted next. */
  | {
      type: "responded";
      requestId: string;
      messageIds: string[];
      failures: string[];
      memory?: Memory | undefined;
    }
  | {
      /** Nothing of the batch is deleted; each message keeps the visibility timeout that it has. */
      type: "failed";
      requestId: string;
      reason: FailureReason | "invalid-response";
      message: string;
      messages: DeliveredMessage[];
    }
  | { type: "deleted"; requestId: string; messageIds: string[] }
  /** They come again. */
  | { type: "not deleted"; requestId: string; message: string }
  | { type: "throttled"; pauseMs: number }
  | { type: "not received"; message: string }
  /** A timer's invocation has ended; `answer` is the function's, or the error's message. */
  | { type: "scheduled"; ok: boolean; answer: unknown }
);
