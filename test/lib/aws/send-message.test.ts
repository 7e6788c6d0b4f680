import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { mockClient } from "aws-sdk-client-mock";
import { expect, test } from "vitest";

import { messageSender } from "../../../lib/aws/send-message.ts";

const client = new SQSClient({ region: "eu-west-1" });
const mock = mockClient(client); // this one alone: other tests share the class

test("a message goes out in its group, and without one when there is none", async () => {
  mock.on(SendMessageCommand).resolves({ MessageId: "1" });
  const send = messageSender(client, "https://queue.test/payments", 1_000);

  await send("body", "cus_ada");
  await send("body");

  const message = { QueueUrl: "https://queue.test/payments", MessageBody: "body" };
  expect(mock.commandCalls(SendMessageCommand).map(({ args }) => args[0].input)).toEqual([
    { ...message, MessageGroupId: "cus_ada" },
    message,
  ]);
});
