// The outcome publisher: reports to other services what became of each payment.

import { createEventBridge } from "../lib/aws/clients.ts";
import { eventBus } from "../lib/aws/event-bus.ts";
import type { LogLine } from "../lib/lambda/emf.ts";
import { readPublisherEnvironment } from "../lib/lambda/environment.ts";
import { createOutcomePublisher } from "../lib/lambda/outcome-publisher.ts";
import { readCredentials } from "../lib/lambda/variables.ts";

const { eventBusName, ...environment } = readPublisherEnvironment(process.env);
const { callTimeoutMs } = environment;
const client = createEventBridge({ credentials: readCredentials(process.env), callTimeoutMs });

export const handler = createOutcomePublisher({
  ...environment,
  bus: eventBus(client, eventBusName),
  now: Date.now,
  write: (line: LogLine) => void process.stdout.write(`${JSON.stringify(line)}\n`),
});
