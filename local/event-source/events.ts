// What an event source tells whoever follows it. Message ids here are SQS's.
import type { FailureReason } from "./invocation.ts";

export type EventSourceEvent =
  | {
      type: "received";
      messages: { messageId: string; receiptHandle: string; body: string; receiveCount: number }[];
    }
  | { type: "invoked"; requestId: string; cold: boolean; pid: number; messageIds: string[] }
  | { type: "responded"; requestId: string; messageIds: string[]; failures: string[] }
  | {
      /** Nothing of the batch is deleted; each message keeps the visibility it has. */
      type: "failed";
      requestId: string;
      reason: FailureReason | "invalid-response";
      message: string;
      messageIds: string[];
    }
  | { type: "deleted"; messageIds: string[] }
  | { type: "throttled"; pauseMs: number }
  | { type: "queue-error"; action: "receive" | "delete"; message: string };
