// The bus's scenarios against the local bus.

import { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import { afterAll, beforeAll } from "vitest";

import { startBus } from "../../local/bus/server.ts";
import type { BusServer } from "../../local/bus/server.ts";
import { conform } from "./conform.ts";
import { busScenarios } from "./scenarios/bus.ts";

const sent: { queueUrl: string; body: string }[] = [];
let server: BusServer;
let client: EventBridgeClient;
let made = 0;

beforeAll(async () => {
  server = await startBus({
    send: async (queueUrl, body) => void sent.push({ queueUrl, body }),
  });
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  client = new EventBridgeClient({ endpoint: server.url, region: "us-east-1", credentials });
});
afterAll(async () => {
  client.destroy();
  await server.stop();
});

conform(busScenarios, () => ({
  client,
  rule: async (pattern) => {
    const bus = `bus-${++made}`;
    server.bus.createBus(bus);
    server.bus.addQueue("rule", bus, pattern, { queueUrl: bus });
    return {
      bus,
      received: async () => {
        await server.bus.idle();
        return sent.filter(({ queueUrl }) => queueUrl === bus).map(({ body }) => body);
      },
    };
  },
}));
