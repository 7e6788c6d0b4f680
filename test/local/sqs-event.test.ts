import { expect, test } from "vitest";

import { toSqsEvent } from "../../local/event-source/sqs-event.ts";

const ARN = "arn:aws:sqs:eu-central-1:000000000000:payments";

test("a received message becomes the record that Lambda documents", () => {
  const event = toSqsEvent(
    [
      {
        MessageId: "059f36b4-87a3-44ab-83d2-661975830a7d",
        ReceiptHandle: "AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a",
        Body: "Test message.",
        MD5OfBody: "e4e68fb7bd0e697a0ae8f1bb342846b3",
        MD5OfMessageAttributes: "9c1f8d0ba1a2b8e0b6a5a8b6b8b6b8b6",
        Attributes: {
          ApproximateReceiveCount: "1",
          SentTimestamp: "1545082649183",
          SenderId: "AIDAIENQZJOLO23YVJ4VO",
          ApproximateFirstReceiveTimestamp: "1545082649185",
          AWSTraceHeader: "Root=1-5759e988-bd862e3fe1be46a994272793",
        },
        MessageAttributes: {
          tenant: { DataType: "String", StringValue: "north" },
          seal: { DataType: "Binary", BinaryValue: new Uint8Array([1, 2, 255]) },
        },
      },
    ],
    ARN,
  );

  expect(event).toEqual({
    Records: [
      {
        messageId: "059f36b4-87a3-44ab-83d2-661975830a7d",
        receiptHandle: "AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a",
        body: "Test message.",
        attributes: {
          ApproximateReceiveCount: "1",
          SentTimestamp: "1545082649183",
          SenderId: "AIDAIENQZJOLO23YVJ4VO",
          ApproximateFirstReceiveTimestamp: "1545082649185",
          AWSTraceHeader: "Root=1-5759e988-bd862e3fe1be46a994272793",
        },
        messageAttributes: {
          tenant: {
            stringValue: "north",
            stringListValues: [],
            binaryListValues: [],
            dataType: "String",
          },
          seal: {
            binaryValue: "AQL/",
            stringListValues: [],
            binaryListValues: [],
            dataType: "Binary",
          },
        },
        md5OfMessageAttributes: "9c1f8d0ba1a2b8e0b6a5a8b6b8b6b8b6",
        md5OfBody: "e4e68fb7bd0e697a0ae8f1bb342846b3",
        eventSource: "aws:sqs",
        eventSourceARN: "arn:aws:sqs:eu-central-1:000000000000:payments",
        awsRegion: "eu-central-1",
      },
    ],
  });
});

test("a message without attributes has none in the event, and no checksum of them", () => {
  const [record] = toSqsEvent([{ MessageId: "m", Body: "b" }], ARN).Records;

  expect(record?.messageAttributes).toEqual({});
  expect(record).not.toHaveProperty("md5OfMessageAttributes");
});
