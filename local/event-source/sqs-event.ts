// Turns what ReceiveMessage returned into the event that Lambda hands to a handler.
import type { Message, MessageAttributeValue } from "@aws-sdk/client-sqs";
import type { SQSEvent, SQSMessageAttribute, SQSRecord } from "aws-lambda";

/** https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html#example-standard-queue-message-event */
export function toSqsEvent(messages: Message[], queueArn: string): SQSEvent {
  return { Records: messages.map((message) => toRecord(message, queueArn)) };
}

function toRecord(message: Message, queueArn: string): SQSRecord {
  const { MD5OfMessageAttributes: md5OfMessageAttributes } = message;
  return {
    messageId: message.MessageId ?? "",
    receiptHandle: message.ReceiptHandle ?? "",
    body: message.Body ?? "",
    attributes: { ...message.Attributes } as SQSRecord["attributes"],
    messageAttributes: Object.fromEntries(
      Object.entries(message.MessageAttributes ?? {}).map(([name, value]) => [
        name,
        toAttribute(value),
      ]),
    ),
    ...(md5OfMessageAttributes !== undefined && { md5OfMessageAttributes }),
    md5OfBody: message.MD5OfBody ?? "",
    eventSource: "aws:sqs",
    eventSourceARN: queueArn,
    awsRegion: queueArn.split(":")[3] ?? "",
  };
}

function toAttribute(value: MessageAttributeValue): SQSMessageAttribute {
  const { StringValue: stringValue, BinaryValue: bytes } = value;
  return {
    ...(stringValue !== undefined && { stringValue }),
    ...(bytes !== undefined && { binaryValue: Buffer.from(bytes).toString("base64") }),
    stringListValues: [],
    binaryListValues: [],
    dataType: value.DataType as SQSMessageAttribute["dataType"],
  };
}
