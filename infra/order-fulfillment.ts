// Order fulfillment, the example of an effect that you own: copy it together with
// functions/order-fulfillment.ts, and put your own effect into the transaction.

import type * as cloudwatch from "aws-cdk-lib/aws-cloudwatch";
import type * as dynamodb from "aws-cdk-lib/aws-dynamodb";
import { Construct } from "constructs";

import { DEFAULT_QUEUE_TIMINGS } from "../lib/timing/queue.ts";
import { timingVariables } from "../lib/timing/variables.ts";
import { alarmsOf, anyMessage, late } from "./alarm.ts";
import { addPart, counts, graph, queueGraph } from "./dashboard.ts";
import { allow } from "./execution-role.ts";
import type { OutcomeEvents } from "./outcome-events.ts";
import { reserves, settingsOf } from "./part.ts";
import { QueueConsumer } from "./queue-consumer.ts";
import { keyedTable } from "./records-table.ts";

export interface OrderFulfillmentProps {
  /** What it consumes. */
  readonly outcomes: OutcomeEvents;
}

export class OrderFulfillment extends Construct {
  /** Where orders are placed: see docs/orders.md. */
  readonly table: dynamodb.Table;
  readonly consumer: QueueConsumer;
  readonly alarms: cloudwatch.Alarm[];

  constructor(scope: Construct, id: string, { outcomes }: OrderFulfillmentProps) {
    super(scope, id);
    const { worker } = outcomes;
    const settings = settingsOf(worker);
    // What expires are events; orders, shipments and ledger lines have no TTL.
    this.table = keyedTable(this, "Orders", "pk", settings);
    this.consumer = new QueueConsumer(this, "Consumer", {
      ...settings,
      messages: "OutcomeEvents",
      bundle: "order-fulfillment",
      title: "order fulfillment",
      description: "Ships each paid order at most once",
      timings: DEFAULT_QUEUE_TIMINGS,
      reserveConcurrency: reserves(worker),
      environment: { ORDERS_TABLE: this.table.tableName, ...timingVariables(worker.timings) },
      // A transaction needs the permissions of what it holds, puts and updates here:
      // https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis-iam.html
      statements: [
        allow(
          "Fulfill",
          ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"],
          this.table.tableArn,
        ),
      ],
    });
    const { queues } = this.consumer;
    outcomes.deliverTo(`${id}Delivery`, queues.queue);
    const add = alarmsOf(this, worker.settings);
    this.alarms = [
      add(
        "OrderDeadLetters",
        "An outcome event could not be applied to its order: there is no such order, its amount differs, or the table failed for over an hour. A customer may have paid for goods that nobody ships. The log has the reason; fix it and redrive.",
        ...anyMessage(queues.deadLetterQueue),
      ),
      add(
        "OrdersLate",
        "An outcome event has waited longer than the longest backoff plus one visibility timeout: paid orders are not shipped, and none is lost for 4 days. Look for throttles, a disabled event source or an outage of DynamoDB.",
        ...late(queues.queue, DEFAULT_QUEUE_TIMINGS),
      ),
    ];
    addPart(worker.dashboard, "Are orders fulfilled?", this.alarms, [
      graph("Orders", counts(this.consumer, ["Fulfilled", "Duplicate", "Conflict"])),
      queueGraph("Outcome events of orders", queues),
    ]);
  }
}
