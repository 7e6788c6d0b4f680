// An event bus over HTTP as its scenarios see it.

import {
  CreateEventBusCommand,
  EventBridgeClient,
  PutRuleCommand,
  PutTargetsCommand,
} from "@aws-sdk/client-eventbridge";
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
} from "@aws-sdk/client-sqs";

import type { BusSubject } from "../scenarios/bus.ts";
import { sqsClient } from "./clients.ts";

export function busClient(endpoint: string): EventBridgeClient {
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  return new EventBridgeClient({ endpoint, region: "us-east-1", credentials });
}

let made = 0;

/** A bus for each rule, at a server that has EventBridge and SQS. */
export function busSubject(endpoint: string): BusSubject {
  const client = busClient(endpoint);
  const sqs = sqsClient(endpoint);
  return {
    client,
    async rule(pattern) {
      const name = `bus-${++made}`;
      const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: name }));
      const { Attributes } = await sqs.send(
        new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["QueueArn"] }),
      );
      const at = { EventBusName: name };
      await client.send(new CreateEventBusCommand({ Name: name }));
      const EventPattern = JSON.stringify(pattern);
      await client.send(new PutRuleCommand({ ...at, Name: "rule", EventPattern }));
      const Targets = [{ Id: "queue", Arn: Attributes?.["QueueArn"] }];
      await client.send(new PutTargetsCommand({ ...at, Rule: "rule", Targets }));
      return {
        bus: name,
        async received(count) {
          const bodies: string[] = [];
          const look = async () => {
            const { Messages = [] } = await sqs.send(
              new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 1 }),
            );
            bodies.push(...Messages.map(({ Body = "" }) => Body));
          };
          for (let looks = 0; bodies.length < count && looks < 10; looks++) await look();
          await look(); // for what should not have come
          return bodies;
        },
      };
    },
  };
}
