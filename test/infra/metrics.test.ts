import { expect, test } from "vitest";

import { templateOf } from "./synth.ts";

test("every metric that an alarm or a graph reads is one that the worker writes", () => {
  // Without the escapes of the dashboard's body, which is JSON in JSON.
  const text = JSON.stringify(templateOf().toJSON()).replaceAll("\\", "");

  const read = [
    ...text.matchAll(/"MetricName":"(\w+)","Namespace":"PaymentWorker"/g), // alarms
    ...text.matchAll(/\["PaymentWorker","(\w+)"/g), // graphs
    ...text.matchAll(/MetricName="(\w+)"/g), // searches
  ].map(([, name = ""]) => name);
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
});
