// Turns what the event source and the worker say into one line a happening, for a terminal.
import { styleText } from "node:util";

import type { EventSourceEvent } from "../local/event-source/events.ts";
import type { LogLine } from "../local/event-source/invocation.ts";

type Print = (line: string) => void;

/** Follows deliveries: the worker's own log line for each, and what befalls the worker itself. */
export function follow(print: Print): {
  onEvent: (event: EventSourceEvent) => void;
  onLog: (line: LogLine) => void;
} {
  const say = (text: string): void => print(`${time()}  ${text}`);
  return {
    onEvent(event) {
      switch (event.type) {
        case "invoked":
          if (event.cold) say(dim(`a worker started, process ${event.pid}`));
          break;
        case "failed":
          say(
            styleText(
              "red",
              `an invocation with ${event.messageIds.length} messages failed (${event.reason}): ${event.message}; they come back when their visibility timeout ends`,
            ),
          );
          break;
        case "throttled":
          say(dim(`the poller pauses for ${Math.round(event.pauseMs)} ms after the failure`));
          break;
        case "queue-error":
          say(styleText("red", `${event.action} failed: ${event.message}`));
          break;
        case "received":
        case "responded":
        case "deleted":
          break; // the worker's own line says more
      }
    },
    onLog({ line }) {
      say(describeLine(line));
    },
  };
}

type WorkerLine = {
  level: string;
  message: string;
  messageId?: string;
  receiveCount?: number;
  attempt?: number;
  stripeRequestId?: string;
};

/** The worker's line for a delivery, shortened; any other line as it is. */
export function describeLine(line: string): string {
  const entry = readWorkerLine(line);
  if (!entry) return line;
  const { level, message, messageId = "", receiveCount, attempt, stripeRequestId } = entry;
  const facts = [
    receiveCount === undefined ? "" : `receive ${receiveCount}`,
    attempt === undefined ? "" : `attempt ${attempt}`,
    stripeRequestId ?? "",
  ].filter((fact) => fact !== "");
  const colour = level === "ERROR" ? "red" : level === "WARN" ? "yellow" : "green";
  return `${messageId}  ${styleText(colour, message)}  ${dim(facts.join(", "))}`.trim();
}

function readWorkerLine(line: string): WorkerLine | undefined {
  try {
    const entry = JSON.parse(line) as WorkerLine | null;
    return typeof entry?.message === "string" ? entry : undefined;
  } catch {
    return undefined;
  }
}

function time(): string {
  return dim(new Date().toTimeString().slice(0, 8));
}

function dim(text: string): string {
  return styleText("dim", text);
}
