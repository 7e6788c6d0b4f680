// AWS as others imitate it: moto and ministack (PyPI), ElasticMQ (Maven Central).

import { fileURLToPath } from "node:url";

import { INSTALLED, startProcess } from "./process.ts";
import type { ExternalServer } from "./process.ts";

export function startMoto(): Promise<ExternalServer> {
  return startProcess({
    program: `${INSTALLED}/python/bin/moto_server`,
    args: ["-H", "127.0.0.1", "-p", "0"],
    announces: /Running on/,
  });
}

export function startMinistack(): Promise<ExternalServer> {
  return startProcess({
    program: `${INSTALLED}/python/bin/ministack`,
    args: [],
    env: { BIND_HOST: "127.0.0.1", MINISTACK_HOST: "127.0.0.1", GATEWAY_PORT: "0" },
    announces: /Running on/,
  });
}

export function startElasticMq(): Promise<ExternalServer> {
  const config = fileURLToPath(new URL("elasticmq.conf", import.meta.url));
  return startProcess({
    program: "java",
    args: [
      `-Dconfig.file=${config}`,
      "-cp",
      `${INSTALLED}/elasticmq/*`,
      "org.elasticmq.server.Main",
    ],
    announces: /Started SQS rest server/,
    installed: `${INSTALLED}/elasticmq`,
  });
}
