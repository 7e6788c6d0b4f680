// What alarms a target by: CloudWatch's alarms and metrics of a deployed stack, or the local stack's own.
import { regionOf } from "./clients.ts";
import type { Target } from "./target.ts";

export type Alarmed = {
  /** The alarms that fire; `since` is in epoch ms. */
  alarms: { name: string; since: number | undefined }[];
  /** The age of the oldest message in the queue. */
  oldestSeconds: number | undefined;
};

/** Undefined for a target that names no stack, or a local stack that cannot tell yet. */
export async function readAlarms(target: Target): Promise<Alarmed | undefined> {
  if (target.local) return target.local.page ? readLocal(target.local.page) : undefined;
  return target.stackName === undefined ? undefined : readDeployed(target, target.stackName);
}

async function readDeployed(target: Target, stackName: string): Promise<Alarmed> {
  // Loaded here: only this asks CloudWatch.
  const { CloudWatchClient, GetMetricStatisticsCommand, paginateDescribeAlarms } =
    await import("@aws-sdk/client-cloudwatch");
  const client = new CloudWatchClient(regionOf(target));
  // CloudFormation names an alarm by its stack, its logical id and a random end.
  const query = { AlarmNamePrefix: `${stackName}-`, StateValue: "ALARM" } as const;
  const alarms: Alarmed["alarms"] = [];
  for await (const { MetricAlarms = [] } of paginateDescribeAlarms({ client }, query)) {
    for (const { AlarmName = "", StateTransitionedTimestamp: at } of MetricAlarms) {
      alarms.push({ name: AlarmName.slice(stackName.length + 1), since: at?.getTime() });
    }
  }
  const { Datapoints = [] } = await client.send(
    new GetMetricStatisticsCommand({
      Namespace: "AWS/SQS",
      MetricName: "ApproximateAgeOfOldestMessage",
      Dimensions: [{ Name: "QueueName", Value: target.resources.queueUrl?.split("/").at(-1) }],
      StartTime: new Date(Date.now() - 10 * 60_000),
      EndTime: new Date(),
      Period: 60,
      Statistics: ["Maximum"],
    }),
  );
  const newest = Datapoints.toSorted((a, b) => Number(a.Timestamp) - Number(b.Timestamp)).at(-1);
  return { alarms, oldestSeconds: newest?.Maximum };
}

async function readLocal(page: string): Promise<Alarmed | undefined> {
  try {
    const states = (await (await fetch(new URL("/alarms", page))).json()) as {
      name: string;
      fires: boolean;
      value?: number;
      sinceMs?: number;
    }[];
    return {
      alarms: states
        .filter(({ fires }) => fires)
        .map(({ name, sinceMs }) => ({ name, since: sinceMs })),
      oldestSeconds: states.find(({ name }) => name === "QueueAge")?.value,
    };
  } catch {
    return undefined;
  }
}
