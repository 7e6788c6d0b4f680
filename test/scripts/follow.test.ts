import { stripVTControlCharacters } from "node:util";

import { expect, test } from "vitest";

import type { StackEvent } from "../../local/stack-event.ts";
import { describeLine, follow } from "../../scripts/follow.ts";

const FUNCTION = "payment-worker";
const message = (messageId: string, body: string) => ({
  messageId,
  body,
  receiptHandle: "handle",
  receiveCount: 1,
});
const log = (line: object): StackEvent => ({
  type: "log",
  function: FUNCTION,
  pid: 7,
  stream: "stdout",
  line: JSON.stringify(line),
});

test.each<[string, StackEvent, string]>([
  [
    "a killed worker's messages by their ids, and one without an id by SQS's",
    {
      type: "failed",
      function: FUNCTION,
      requestId: "r",
      reason: "crash",
      message: "Runtime exited with error: signal: SIGKILL",
      messages: [message("sqs-1", '{"id":"order-1"}'), message("sqs-2", "not JSON")],
    },
    "an invocation failed (crash: Runtime exited with error: signal: SIGKILL): order-1, sqs-2 come back when the visibility timeout ends",
  ],
  [
    "that a killed worker was idle",
    {
      type: "environment ended",
      function: FUNCTION,
      pid: 7,
      how: "exited with error: signal: SIGKILL",
      wasBusy: false,
    },
    "the worker in process 7, idle, exited with error: signal: SIGKILL",
  ],
  [
    "the worker's line, shortened",
    log({ level: "INFO", message: "charge succeeded", messageId: "order-1", receiveCount: 1 }),
    "order-1  charge succeeded  receive 1",
  ],
  [
    "the line of another function, with its name",
    {
      ...log({ level: "INFO", message: "the order is shipped", messageId: "order-1" }),
      function: "order-fulfillment",
    } as StackEvent,
    "order-fulfillment: order-1  the order is shipped",
  ],
  [
    "a failed batch's error without its stack trace",
    log({
      level: "ERROR",
      message: { errorType: "Unavailable", errorMessage: "Stripe is down", stackTrace: ["at x"] },
    }),
    "Unavailable: Stripe is down",
  ],
])("npm start prints %s", (_, event, line) => {
  const lines: string[] = [];

  follow((text) => lines.push(stripVTControlCharacters(text)))(event);

  expect(lines).toEqual([expect.stringMatching(/^\d\d:\d\d:\d\d {2}/)]);
  expect(lines[0]?.slice(10)).toBe(line);
});

test.each<[string, Record<string, unknown>, string]>([
  [
    "a decline with its codes",
    { message: "charge declined", code: "card_declined", declineCode: "lost_card" },
    "order-1  charge declined  receive 2, card_declined, lost_card",
  ],
  [
    "a code that is both once",
    {
      message: "charge declined",
      code: "authentication_required",
      declineCode: "authentication_required",
    },
    "order-1  charge declined  receive 2, authentication_required",
  ],
  [
    "a revoked key",
    {
      level: "ERROR",
      message: "Stripe refused the API key",
      code: "api_key_expired",
      traceId: "t-1",
    },
    "order-1  Stripe refused the API key  receive 2, api_key_expired, t-1",
  ],
  [
    "where a bug is",
    { level: "WARN", message: "no outcome yet", code: "TypeError", where: "charge (index.js:1:2)" },
    "order-1  no outcome yet  receive 2, TypeError, charge (index.js:1:2)",
  ],
  [
    "the invocation of a lost lease",
    { level: "WARN", message: "another worker took over", traceId: "t-1", requestId: "r-1" },
    "order-1  another worker took over  receive 2, t-1, r-1",
  ],
  [
    "nothing to follow where all is well",
    { message: "charge succeeded", traceId: "t-1", requestId: "r-1" },
    "order-1  charge succeeded  receive 2",
  ],
])("a line of the worker shows %s", (_, fields, line) => {
  const entry = { level: "INFO", messageId: "order-1", receiveCount: 2, ...fields };

  expect(stripVTControlCharacters(describeLine(JSON.stringify(entry)))).toBe(line);
});
