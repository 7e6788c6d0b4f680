// Turns a stack's feed into one line an event, for a terminal.
import { styleText } from "node:util";

import { handle } from "../local/feed.ts";
import type { StackEvent } from "../local/stack-event.ts";
import { idIn } from "./describe-body.ts";

const WORKER = "payment-worker";

/** Returns the listener: the functions' own log lines, and what happens to the functions themselves. */
export function follow(print: (line: string) => void): (event: StackEvent) => void {
  const say = (text: string): void => print(`${time()}  ${text}`);
  return handle<StackEvent>({
    "environment started": ({ function: name, pid }) =>
      say(
        dim(
          name === WORKER ? `a worker started, process ${pid}` : `${name} started, process ${pid}`,
        ),
      ),
    "environment ended"({ function: name, pid, how, wasBusy }) {
      // With a batch, the failed invocation says so and names the messages.
      const who = name === WORKER ? "the worker" : name;
      if (!wasBusy) say(dim(`${who} in process ${pid}, idle, ${how}`));
    },
    failed({ reason, message, messages }) {
      const what = `an invocation failed (${reason}: ${message})`;
      say(styleText("red", `${what}: ${nameMessages(messages)} when the visibility timeout ends`));
    },
    throttled: ({ pauseMs }) =>
      say(dim(`the poller pauses for ${Math.round(pauseMs)} ms after the failure`)),
    "not received": ({ message }) => say(styleText("red", `receiving failed: ${message}`)),
    "not deleted": ({ message }) => say(styleText("red", `deleting failed: ${message}`)),
    alarm: ({ name, fires }) =>
      say(
        fires
          ? styleText("red", `alarm ${name} fires: docs/runbook.md, section ${name}`)
          : dim(`alarm ${name} has cleared`),
      ),
    switched: ({ on }) =>
      say(
        styleText(
          "yellow",
          on.length === 0
            ? "nothing is broken any more"
            : `broken: ${on.map(({ name, argument }) => `${name} ${argument}`.trim()).join(", ")}`,
        ),
      ),
    log: ({ function: name, line }) =>
      say(name === WORKER ? describeLine(line) : `${dim(`${name}:`)} ${describeLine(line)}`),
  });
}

function nameMessages(messages: readonly { body: string; messageId: string }[]): string {
  const names = messages.map(({ body, messageId }) => idIn(body) ?? messageId);
  return `${names.join(", ")} ${names.length === 1 ? "comes" : "come"} back`;
}

type WorkerLine = {
  level: string;
  message: string | { errorType: string; errorMessage: string };
  messageId?: string;
  receiveCount?: number;
  attempt?: number;
  code?: string;
  declineCode?: string;
  where?: string;
  stripeRequestId?: string;
  traceId?: string;
  requestId?: string;
};

/** The worker's line for a delivery, shortened, and the runtime's for an error; any other line as it is. */
export function describeLine(line: string): string {
  const entry = readWorkerLine(line);
  if (!entry) return line;
  const { level, message, messageId = "", receiveCount, attempt } = entry;
  const { code, declineCode, where, stripeRequestId, traceId, requestId } = entry;
  if (typeof message !== "string") {
    return styleText("red", `${message.errorType}: ${message.errorMessage}`);
  }
  // What leads on: to the sender, and to the function's own log of that invocation.
  const leads = level === "INFO" ? [] : [traceId, requestId];
  const facts = [
    receiveCount === undefined ? undefined : `receive ${receiveCount}`,
    attempt === undefined ? undefined : `attempt ${attempt}`,
    ...new Set([code, declineCode]),
    where,
    stripeRequestId,
    ...leads,
  ].filter((fact) => fact !== undefined);
  const color = level === "ERROR" ? "red" : level === "WARN" ? "yellow" : "green";
  return `${messageId}  ${styleText(color, message)}  ${dim(facts.join(", "))}`.trim();
}

function readWorkerLine(line: string): WorkerLine | undefined {
  try {
    const entry = JSON.parse(line) as WorkerLine | null;
    const { message } = entry ?? {};
    const isError = typeof message === "object" && typeof message?.errorMessage === "string";
    return entry && (typeof message === "string" || isError) ? entry : undefined;
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
