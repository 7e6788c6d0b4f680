import { CloudWatchLogsClient, FilterLogEventsCommand } from "@aws-sdk/client-cloudwatch-logs";
import type { FilteredLogEvent } from "@aws-sdk/client-cloudwatch-logs";
import { mockClient } from "aws-sdk-client-mock";
import { expect, test } from "vitest";

import { followLogGroup } from "../../cli/clients/log-group.ts";
import { startOperator, until } from "./operator.ts";

test("tail follows how deliveries end, from now on, until Ctrl-C; with --id and --json it prints the worker's own lines of a message", async () => {
  const operator = await startOperator();
  await operator.send("order-1");
  await operator.stack.drained(60_000);

  const { child, output, finished } = operator.command("tail");
  // The command is there once it waits: only what is sent from then on is new to it.
  const early = operator.command("tail", "--since", "1h");
  await until(() => early.output.stdout.includes("order-1"));
  await until(async () => {
    await operator.send("order-2", { amount: 0 });
    return output.stdout.includes("order-2");
  });
  child.kill("SIGINT");
  early.child.kill("SIGINT");
  const own = operator.command("tail", "--since", "1h", "--id", "order-1", "--json");
  await until(() => own.output.stdout.endsWith("}\n"));
  own.child.kill("SIGINT");

  const { code, stdout } = await finished;
  expect(stdout).toMatch(
    /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}order-2 {2}invalid: amount must be an integer.+ {2}receive [1-5]\b/,
  );
  expect(stdout).not.toContain("order-1");
  expect(code).toBe(0);
  expect((await early.finished).stdout).toMatch(
    /order-1 {2}charge succeeded {2}receive 1, attempt 1/,
  );
  expect(
    own.output.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual(operator.lines.filter(({ messageId }) => messageId === "order-1"));
});

test("the log group is read page by page, late events too, and each event once", async () => {
  const event = (eventId: string, timestamp: number): FilteredLogEvent => ({
    eventId,
    timestamp,
    message: `${eventId}\n`,
  });
  const pages = [
    { events: [event("a", 100_000)], nextToken: "more" },
    { events: [event("b", 140_000)] },
    { events: [event("b", 140_000), event("late", 120_000), event("c", 150_000)] },
  ];
  const asked: object[] = [];
  mockClient(CloudWatchLogsClient)
    .on(FilterLogEventsCommand)
    .callsFake((input: object) => pages[asked.push({ ...input }) - 1]);
  const stop = new AbortController();

  const lines: string[] = [];
  const client = new CloudWatchLogsClient({ region: "eu-west-1" });
  for await (const line of followLogGroup(client, "/worker", 90_000, stop.signal)) {
    lines.push(line);
    if (line === "c") stop.abort();
  }

  expect(lines).toEqual(["a", "b", "late", "c"]);
  const query = { logGroupName: "/worker", filterPattern: '{ $.decision = "*" }' };
  expect(asked).toEqual([
    { ...query, startTime: 90_000 },
    { ...query, startTime: 90_000, nextToken: "more" },
    { ...query, startTime: 110_000 },
  ]);
});
