// The bus of a target, as the outcome publisher sends to it.
import { EventBridgeClient } from "@aws-sdk/client-eventbridge";

import { eventBus } from "../../lib/aws/event-bus.ts";
import type { OutcomeBus } from "../../lib/outcomes/publish.ts";
import { UsageError } from "../terminal/command.ts";
import { LOCAL, regionOf } from "./clients.ts";
import { need } from "./target.ts";
import type { Target } from "./target.ts";

/** @throws UsageError when the target names no bus */
export function eventBusFor(target: Target): OutcomeBus {
  const name = need(target, "eventBus");
  if (!target.local) return eventBus(new EventBridgeClient(regionOf(target)), name);
  const endpoint = target.local.env["AWS_ENDPOINT_URL_EVENTBRIDGE"];
  if (!endpoint) throw new UsageError("The local stack has no bus: restart it with npm start.");
  return eventBus(new EventBridgeClient({ endpoint, ...LOCAL }), name);
}
