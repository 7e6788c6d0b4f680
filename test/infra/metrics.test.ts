import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { METRICS_NAMESPACE } from "../../lib/lambda/payment-log.ts";
import { templateOf } from "./synth.ts";

// The names that the worker writes stand in this file alone; infra/ must not import it.
const REPORT = readFileSync(new URL("../../lib/lambda/payment-log.ts", import.meta.url), "utf8");

test("every metric that an alarm or a graph reads is one that the worker writes", () => {
  // Without the escapes of the dashboard's body, which is JSON in JSON.
  const text = JSON.stringify(templateOf().toJSON()).replaceAll("\\", "");

  const read = [
    ...text.matchAll(/"MetricName":"(\w+)","Namespace":"PaymentWorker"/g), // alarms
    ...text.matchAll(/\["PaymentWorker","(\w+)"/g), // graphs
    ...text.matchAll(/MetricName="(\w+)"/g), // searches
  ].map(([, name = ""]) => name);
  expect(METRICS_NAMESPACE).toBe("PaymentWorker");
  expect([...new Set(read)].toSorted()).toStrictEqual([
    "ClaimToComplete",
    "ConfigurationError",
    "Conflict",
    "Declined",
    "Duplicate",
    "FailedReceive",
    "InProgress",
    "Invalid",
    "LeaseLost",
    "NotStarted",
    "Processing",
    "Rejected",
    "RequiresAction",
    "Succeeded",
    "Takeover",
    "TransientFailure",
  ]);
  for (const name of read) expect(REPORT).toContain(`"${name}"`);
});
