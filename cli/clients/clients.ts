// The clients of a target's queues and table: in AWS by the SDK's own settings, on this machine by their
// endpoints. Clients that few commands need have files of their own, because each takes a while to load.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { SQSClient } from "@aws-sdk/client-sqs";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";

import { readEnvironment } from "../../lib/lambda/environment.ts";
import { DEFAULT_WORKER_TIMINGS } from "../../lib/timing/payments.ts";
import type { WorkerTimings } from "../../lib/timing/payments.ts";
import { UsageError } from "../terminal/command.ts";
import type { Target } from "./target.ts";

/** For a client of the local servers. */
export const LOCAL = {
  region: "us-east-1",
  credentials: { accessKeyId: "local", secretAccessKey: "local" },
};

/** For a queue in AWS, its URL gives the region; any other URL is its own endpoint. */
export function sqsFor(queueUrl: string): SQSClient {
  const url = URL.parse(queueUrl);
  if (!url) throw new UsageError(`"${queueUrl}" is not the URL of a queue.`);
  const region = awsRegion(url);
  if (region !== undefined) return new SQSClient({ region });
  return new SQSClient({ endpoint: url.origin, ...LOCAL });
}

/** Whether the queue is on this machine, where no message takes real money. */
export function isLocal(queueUrl: string): boolean {
  return ["127.0.0.1", "localhost", "[::1]"].includes(URL.parse(queueUrl)?.hostname ?? "");
}

function awsRegion({ hostname }: URL): string | undefined {
  return /^(?:sqs\.)?([a-z]{2}(?:-[a-z]+)+-\d)\.(?:queue\.)?amazonaws\./.exec(hostname)?.[1];
}

/** The table's client, in the region that the target's queue or secret names. */
export function tableFor(target: Target): DynamoDBDocumentClient {
  const { local } = target;
  const client = local
    ? new DynamoDBClient({ endpoint: local.endpoints.table, ...LOCAL })
    : new DynamoDBClient(regionOf(target));
  return DynamoDBDocumentClient.from(client, {
    marshallOptions: { removeUndefinedValues: true },
  });
}

/** The region that the target's queue or secret names, for a client of something else there. */
export function regionOf({ resources }: Target): { region?: string } {
  const queue = URL.parse(resources.queueUrl ?? resources.dlqUrl ?? "");
  const region = (queue && awsRegion(queue)) ?? resources.secretArn?.split(":")[3];
  return region ? { region } : {};
}

/** The timings that the worker runs with: the local stack's, else the defaults that are deployed. */
export function timingsFor({ local }: Target): WorkerTimings {
  return local ? readEnvironment(local.env).timings : DEFAULT_WORKER_TIMINGS;
}
