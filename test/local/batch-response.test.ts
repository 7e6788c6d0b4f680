import { expect, test } from "vitest";

import { readBatchResponse } from "../../local/event-source/batch-response.ts";
import { toSqsEvent } from "../../local/event-source/sqs-event.ts";

const BATCH = new Set(["a", "b", "c"]);

test("a listed message fails and no other does", () => {
  const payload = '{"batchItemFailures":[{"itemIdentifier":"b"}]}';

  expect(readBatchResponse(payload, BATCH)).toEqual({ valid: true, failed: ["b"] });
});

test("a message listed twice fails once", () => {
  const payload = '{"batchItemFailures":[{"itemIdentifier":"b"},{"itemIdentifier":"b"}]}';

  expect(readBatchResponse(payload, BATCH)).toEqual({ valid: true, failed: ["b"] });
});

test.each([
  ["null", "null"],
  ["an empty object", "{}"],
  ["an empty list", '{"batchItemFailures":[]}'],
  ["a null list", '{"batchItemFailures":null}'],
])("%s is complete success", (_, payload) => {
  expect(readBatchResponse(payload, BATCH)).toEqual({ valid: true, failed: [] });
});

test.each([
  ["text that is not JSON", "ok", "not JSON"],
  ["a string", '"ok"', "not an object"],
  ["a list", "[]", "not an object"],
  ["a list that is an object", '{"batchItemFailures":{"itemIdentifier":"a"}}', "not a list"],
  ["an empty id", '{"batchItemFailures":[{"itemIdentifier":""}]}', "empty"],
  ["a null id", '{"batchItemFailures":[{"itemIdentifier":null}]}', "null"],
  ["a number as id", '{"batchItemFailures":[{"itemIdentifier":7}]}', "not a string"],
  ["another key name", '{"batchItemFailures":[{"messageId":"a"}]}', "missing"],
  ["a bare id", '{"batchItemFailures":["a"]}', "missing"],
  ["a null entry", '{"batchItemFailures":[null]}', "missing"],
  [
    "an id of another batch beside a good one",
    '{"batchItemFailures":[{"itemIdentifier":"a"},{"itemIdentifier":"z"}]}',
    'itemIdentifier "z" is not in this batch',
  ],
])("%s fails the whole batch", (_, payload, problem) => {
  expect(readBatchResponse(payload, BATCH)).toEqual({
    valid: false,
    problem: expect.stringContaining(problem) as string,
  });
});

test("a message without attributes has none in the event, and no checksum of them", () => {
  const arn = "arn:aws:sqs:eu-central-1:000000000000:payments";
  const [record] = toSqsEvent([{ MessageId: "m", Body: "b" }], arn).Records;

  expect(record).toMatchObject({ messageAttributes: {}, awsRegion: "eu-central-1" });
  expect(record).not.toHaveProperty("md5OfMessageAttributes");
});
