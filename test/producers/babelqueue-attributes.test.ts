// BabelQueue's message attributes on their way through the handler.

import type { SQSClient } from "@aws-sdk/client-sqs";
import type { SQSMessageAttributes } from "aws-lambda";
import { expect, test } from "vitest";

import type { LogLine } from "../../lib/lambda/emf.ts";
import { createPaymentHandler } from "../../lib/lambda/payment-handler.ts";
import { CONTEXT, sqsEvent } from "../support/sqs-event.ts";
import { WORKER_TIMINGS } from "../support/timings.ts";
import produced from "./babelqueue.json" with { type: "json" };

// A minute after the messages of babelqueue.json were made.
const NOW = 1_795_980_789_855;
const [first] = produced;
if (!first) throw new Error("babelqueue.json is empty: see make-babelqueue.py.");

async function handle(attributes: SQSMessageAttributes | undefined) {
  const claimed: string[] = [];
  const lines: LogLine[] = [];
  const unexpected = () => Promise.reject(new Error("Nothing may be asked of this."));
  const handler = createPaymentHandler({
    records: {
      // Another worker holds every message: the handler stops after the claim.
      claim: async (record) => {
        claimed.push(record.messageId);
        return { ...record, owner: "another" };
      },
      takeOver: unexpected,
      complete: unexpected,
      release: unexpected,
    },
    charges: { create: unexpected, find: unexpected },
    queue: { client: { send: async () => ({}) } as unknown as SQSClient, url: "http://queue" },
    functionName: "payment-worker",
    timings: WORKER_TIMINGS,
    now: () => NOW,
    random: () => 0.5,
    newOwner: () => "this one",
    write: (line) => lines.push(line),
  });
  const event = sqsEvent({
    name: "1",
    body: first?.body ?? "",
    messageAttributes: attributes,
  });
  await handler(event, CONTEXT);
  return { claimed, line: lines[0] };
}

const attribute = (stringValue: string): SQSMessageAttributes => ({
  "bq-schema-version": { stringValue, dataType: "Number" },
});

test("a message with the attributes of BabelQueue's producer is claimed", async () => {
  const { "bq-schema-version": version } = first.attributes;
  expect(version).toEqual({ DataType: "Number", StringValue: "1" });

  const { claimed } = await handle(attribute(version.StringValue));

  expect(claimed).toEqual(["845c8106-e256-43a0-b175-e1fa3a7fccbe"]);
});

test("a message whose attribute names a later schema version is invalid and never claimed", async () => {
  const { claimed, line } = await handle(attribute("2"));

  expect(claimed).toEqual([]);
  expect(line).toMatchObject({
    decision: "invalid",
    rule: "schema_version",
    field: "bq-schema-version",
  });
});

test("a hand-made event without message attributes is handled", async () => {
  const { claimed } = await handle(undefined);

  expect(claimed).toEqual(["845c8106-e256-43a0-b175-e1fa3a7fccbe"]);
});
