/**
 * fauxqs rejects every character beyond U+FFFF, an emoji for one: its pattern reads text by halves of
 * surrogate pairs. SQS takes them.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html
 */
import { INVALID_MESSAGE_BODY_CHAR } from "../../node_modules/fauxqs/dist/sqs/sqsTypes.js";

// oxlint-disable-next-line no-control-regex -- Tab, line feed and carriage return are what SQS allows.
const INVALID = /[^\x09\x0A\x0D\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

/** Changes the loaded fauxqs, so for every server in this process. */
export function takeAnyCharacter(): void {
  INVALID_MESSAGE_BODY_CHAR.test = (text) => INVALID.test(text);
}
