// How the payment worker is deployed on a laptop.
import { fileURLToPath } from "node:url";

import type { FunctionSpec, QueueTrigger } from "./hosted-function.ts";

/** What the deployment decides about the worker. */
export type WorkerSettings = {
  functionTimeoutMs: number;
  visibilityTimeoutSeconds: number;
  batchSize: number;
  maxReceiveCount: number;
  /** Most invocations in flight. */
  concurrency: number;
  /** The poller's pause after failed invocations, ms. */
  backoffMs?: { base: number; max: number };
  /** The worker's own variables, on top of those that point it at the stack. */
  env: Record<string, string>;
};

/**
 * Shorter than in AWS, in the same proportions, so that a laptop shows in seconds what takes minutes
 * there. They keep the rules of lib/timing/; a test holds them to it.
 */
export const LOCAL_WORKER: Readonly<WorkerSettings> = {
  functionTimeoutMs: 6_500,
  visibilityTimeoutSeconds: 39,
  batchSize: 5,
  maxReceiveCount: 5,
  concurrency: 2,
  env: {
    STRIPE_TIMEOUT_SECONDS: "1",
    CALL_TIMEOUT_SECONDS: "1",
    DEADLINE_RESERVE_SECONDS: "0.25",
    CLOCK_SKEW_SECONDS: "0.5",
    BACKOFF_BASE_SECONDS: "1",
    BACKOFF_CAP_SECONDS: "4",
  },
};

const BUNDLE = fileURLToPath(new URL("../dist/payment-worker/index.js", import.meta.url));

/**
 * What is left out is as in LOCAL_WORKER, each variable of `env` too.
 *
 * @param bundle absolute path of another bundle than the built one
 */
export function paymentWorker(
  settings: Partial<WorkerSettings> = {},
  bundle: string = BUNDLE,
): FunctionSpec & { trigger: QueueTrigger } {
  const { functionTimeoutMs, env, ...trigger } = { ...LOCAL_WORKER, ...settings };
  return {
    name: "payment-worker",
    bundle,
    timeoutMs: functionTimeoutMs,
    env: { ...LOCAL_WORKER.env, ...env },
    trigger: { type: "queue", queue: "payments", ...trigger },
  };
}
