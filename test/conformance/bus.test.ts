// The bus's scenarios against the local bus.

import { startBus } from "../../local/bus/server.ts";
import { conform, during } from "./conform.ts";
import { busScenarios } from "./scenarios/bus.ts";
import { busClient } from "./servers/buses.ts";

const sent: { queueUrl: string; body: string }[] = [];
let made = 0;

const server = during(() =>
  startBus({ send: async (queueUrl, body) => void sent.push({ queueUrl, body }) }),
);

conform(busScenarios, () => ({
  client: busClient(server().url),
  rule: async (pattern) => {
    const { bus } = server();
    const name = `bus-${++made}`;
    bus.createBus(name);
    bus.addQueue("rule", name, pattern, { queueUrl: name });
    return {
      bus: name,
      received: async () => {
        await bus.idle();
        return sent.filter(({ queueUrl }) => queueUrl === name).map(({ body }) => body);
      },
    };
  },
}));
