// What every measurement shares.

import { CERTIFICATE } from "./servers.ts";
import type { Addresses, Latency, Servers } from "./servers.ts";
import type { Throttle } from "./throttle.ts";
import type { Bundles } from "./variants.ts";

export type Bench = {
  servers: Servers;
  bundles: Bundles;
  /** Absent where this user may not throttle. */
  throttle: Throttle | undefined;
};

export const BATCH = 10;
export const DEPLOYED_MB = 256;
export const AT_ONCE: Latency = { table: 0, stripe: 0 };
export const REAL: Latency = { table: 4, stripe: 150 };

/** Starts for each figure. */
export const COLD_ROUNDS = 8;
/** Processes for each figure. */
export const WARM_ROUNDS = 6;
/** Batches of a process that count, after those by which the compiler has little left to do. */
export const BATCHES = 20;
export const WARM_UP = 120;

/** As long as the one of a function's role: it is sent and signed with each request to AWS. */
const SESSION_TOKEN = "IQoJb3JpZ2luX2VjE".padEnd(1_000, "kqTd4Zs9/b+7XwLm");

/** The variables that Lambda sets. */
export function environment({ table, stripe }: Addresses, memoryMb: number) {
  return {
    PATH: process.env["PATH"] ?? "",
    NODE_EXTRA_CA_CERTS: CERTIFICATE,
    AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x",
    AWS_LAMBDA_FUNCTION_NAME: "payment-worker",
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMb),
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "ASIAIOSFODNN7EXAMPLE",
    AWS_SECRET_ACCESS_KEY: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    AWS_SESSION_TOKEN: SESSION_TOKEN,
    AWS_ENDPOINT_URL_DYNAMODB: table,
    AWS_ENDPOINT_URL_SQS: table,
    BATCH_SIZE: String(BATCH),
    RECORDS_TABLE: "payments",
    QUEUE_URL: "https://127.0.0.1/000000000000/payments",
    STRIPE_API_BASE: stripe,
    STRIPE_API_KEY: "sk_test_bench",
  };
}
