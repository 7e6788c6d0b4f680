// The EventBridge bus that outcome events go to.

import { PutEventsCommand } from "@aws-sdk/client-eventbridge";
import type { EventBridgeClient } from "@aws-sdk/client-eventbridge";

import { withTimeLimit } from "../net/time-limit.ts";
import type { OutcomeBus } from "../outcomes/publish.ts";

/**
 * PutEvents answers 200 although some of its entries failed: each has an id, or a code of its own.
 * https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html
 */
export function eventBus(client: EventBridgeClient, name: string): OutcomeBus {
  return {
    async publish(events, timeoutMs) {
      const command = new PutEventsCommand({
        Entries: events.map((event) => ({
          EventBusName: name,
          Source: "payment-worker",
          DetailType: event.type,
          Detail: JSON.stringify(event),
          ...("time" in event && event.time !== undefined && { Time: new Date(event.time) }),
        })),
      });
      const { Entries = [] } = await withTimeLimit(timeoutMs, (options) =>
        client.send(command, options),
      );
      return Entries.map(({ EventId, ErrorCode }) =>
        EventId ? undefined : (ErrorCode ?? "NoEventId"),
      );
    },
  };
}
