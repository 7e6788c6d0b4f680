// Messages by the producers' own code, made now: BabelQueue's library, and what moto's SNS and
// EventBridge put on a queue.

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

import { ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { beforeAll, describe, expect, test } from "vitest";

import { decodeMessage } from "../../lib/message/decode.ts";
import checkedIn from "../producers/babelqueue.json" with { type: "json" };
import { WORKER_TIMINGS } from "../support/timings.ts";
import { during } from "./conform.ts";
import type { SqsSubject } from "./scenarios/sqs-api.ts";
import { startMoto } from "./servers/aws.ts";
import { sqsClient } from "./servers/clients.ts";
import { INSTALLED } from "./servers/process.ts";
import { createQueues } from "./servers/queues.ts";

const PAYMENT = {
  amount: 1200,
  currency: "eur",
  customer: "cus_ada",
  paymentMethod: "pm_card_visa",
};

const decode = (body: string, schemaVersion?: string) =>
  decodeMessage(body, Date.now(), WORKER_TIMINGS, schemaVersion);

test("what BabelQueue's library produces today is read, and is what is checked in", () => {
  const script = fileURLToPath(new URL("../producers/make-babelqueue.py", import.meta.url));
  const produced = JSON.parse(
    execFileSync(`${INSTALLED}/python/bin/python`, [script], { encoding: "utf8" }),
  ) as typeof checkedIn;

  const decoded = produced.map(({ body, schemaVersion }) =>
    decode(body, schemaVersion.StringValue),
  );

  expect(produced.map(shapeOf)).toEqual(checkedIn.map(shapeOf));
  for (const one of decoded)
    expect(one).toMatchObject({ kind: "message", message: { payment: PAYMENT } });
});

/** A message without what is minted anew for each. */
function shapeOf({ name, body, schemaVersion }: (typeof checkedIn)[number]): unknown {
  const minted = /"(?:id|trace_id)":"[^"]*"|"(?:created_at|failed_at)":\d+/g;
  return [name, body.replaceAll(minted, "…"), schemaVersion];
}

describe("moto", () => {
  const server = during(startMoto);
  let queues: SqsSubject;
  let queueArn: string;
  beforeAll(async () => {
    queues = await createQueues(sqsClient(server().url));
    queueArn = queues.dlqArn.replace(/-dlq$/, "");
  });

  /** Calls a service that this project has no client for. */
  async function call(service: string, headers: Record<string, string>, body: string) {
    const authorization = `AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/${service}/aws4_request, SignedHeaders=host, Signature=0`;
    const response = await fetch(server().url, {
      method: "POST",
      headers: { authorization, ...headers },
      body,
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${service} answered ${response.status}: ${text}`);
    return text;
  }

  const sns = (fields: Record<string, string>) =>
    call(
      "sns",
      { "content-type": "application/x-www-form-urlencoded" },
      new URLSearchParams(fields).toString(),
    );

  const events = (operation: string, input: object) =>
    call(
      "events",
      { "content-type": "application/x-amz-json-1.1", "x-amz-target": `AWSEvents.${operation}` },
      JSON.stringify(input),
    );

  const plain = (id: string) =>
    JSON.stringify({ id, createdAt: new Date().toISOString(), ...PAYMENT });

  async function receiveBody(): Promise<string> {
    const { Messages = [] } = await queues.client.send(
      new ReceiveMessageCommand({ QueueUrl: queues.queueUrl, WaitTimeSeconds: 5 }),
    );
    return Messages[0]?.Body ?? "";
  }

  test("a payment that SNS forwarded is read, under the sender's id", async () => {
    const made = await sns({ Action: "CreateTopic", Name: "payments" });
    const topic = /<TopicArn>(.*)<\/TopicArn>/.exec(made)?.[1] ?? "";
    await sns({ Action: "Subscribe", TopicArn: topic, Protocol: "sqs", Endpoint: queueArn });

    await sns({ Action: "Publish", TopicArn: topic, Message: plain("order-sns") });

    const body = await receiveBody();
    expect(JSON.parse(body)).toMatchObject({ Type: "Notification" });
    expect(decode(body)).toMatchObject({
      kind: "message",
      message: { id: "order-sns", payment: PAYMENT },
    });
  });

  test("a payment that EventBridge forwarded is read, under the sender's id", async () => {
    await events("PutRule", { Name: "payments", EventPattern: '{"source":["shop"]}' });
    await events("PutTargets", { Rule: "payments", Targets: [{ Id: "1", Arn: queueArn }] });

    const entry = { Source: "shop", DetailType: "Payment", Detail: plain("order-eb") };
    await events("PutEvents", { Entries: [entry] });

    const body = await receiveBody();
    expect(JSON.parse(body)).toMatchObject({ "detail-type": "Payment" });
    expect(decode(body)).toMatchObject({
      kind: "message",
      message: { id: "order-eb", payment: PAYMENT },
    });
  });
});
