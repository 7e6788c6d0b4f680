import { Template } from "aws-cdk-lib/assertions";
import { expect, test } from "vitest";

import { PaymentServiceStack } from "../../infra/payment-service-stack.ts";
import { DEV, newApp, propertiesOf, templateOf } from "./synth.ts";

type Widget = {
  type: string;
  x: number;
  y: number;
  width: number;
  height: number;
  properties: { title?: string; markdown?: string; metrics?: unknown[][]; alarms?: unknown[] };
};

// The body is a string in pieces with references between them; a name stands in for each.
const { dashboard, body } = dashboardOf(templateOf());
const { widgets } = JSON.parse(body) as { widgets: Widget[] };

function dashboardOf(template: Template) {
  const [found] = propertiesOf(template, "AWS::CloudWatch::Dashboard") as {
    DashboardName: unknown;
    DashboardBody: { "Fn::Join": [string, unknown[]] };
  }[];
  const pieces = found?.DashboardBody["Fn::Join"][1] ?? [];
  const joined = pieces.map((piece) => (typeof piece === "string" ? piece : "resource"));
  return { dashboard: found, body: joined.join("") };
}

test("it answers three questions from top to bottom, after the alarms", () => {
  expect(
    widgets
      .map(({ type, properties }) => properties.markdown ?? type)
      .filter((text) => text !== "metric"),
  ).toStrictEqual([
    "alarm",
    "## Are customers being charged?",
    "## Is anything stuck?",
    "## Is Stripe, AWS or a sender the cause?",
  ]);
});

test("it is named after its stack, and apart in each region", () => {
  expect(dashboard?.DashboardName).toStrictEqual({
    "Fn::Join": [
      "",
      [expect.stringMatching(/^Stack-PaymentWorker-\w{8}-$/), { Ref: "AWS::Region" }],
    ],
  });
});

test("it shows every alarm", () => {
  expect(widgets[0]?.properties.alarms).toHaveLength(14);
});

test("its widgets fill the grid without an overlap", () => {
  const cells = new Set<string>();
  for (const { x, y, width, height } of widgets) {
    expect(x + width).toBeLessThanOrEqual(24);
    for (let column = x; column < x + width; column++) {
      for (let row = y; row < y + height; row++) cells.add(`${column},${row}`);
    }
  }
  // 24 columns of: alarms 3, three headings 1 each, three rows of graphs 6 each.
  expect(cells.size).toBe(24 * 24);
});

test("failures and invalid messages are split into a line per kind and rule", () => {
  expect(body).toContain(
    `SEARCH('{PaymentWorker,FunctionName,kind} MetricName=\\"TransientFailure\\" FunctionName=\\"resource\\"', 'Sum', 300)`,
  );
  expect(body).toContain(
    `SEARCH('{PaymentWorker,FunctionName,rule} MetricName=\\"Invalid\\" FunctionName=\\"resource\\"', 'Sum', 300)`,
  );
});

test("each part that exists has a row of its own, with its alarms", () => {
  const stage = {
    outcomeEvents: true,
    stripeEvents: true,
    orderFulfillment: true,
    paymentApi: true,
  };
  const stack = new PaymentServiceStack(newApp(), "Stack", { ...DEV, ...stage });
  const whole = JSON.parse(dashboardOf(Template.fromStack(stack)).body) as { widgets: Widget[] };

  expect(
    whole.widgets
      .slice(widgets.length)
      .filter(({ type }) => type !== "metric")
      .map(({ properties }) => properties.markdown ?? properties.alarms?.length),
  ).toStrictEqual([
    "## Are other services informed?",
    4, // the publisher's, and that of the orders' delivery
    "## What became of payments later?",
    6,
    "## Are orders fulfilled?",
    2,
    "## Do clients get through?",
    1,
  ]);
});
