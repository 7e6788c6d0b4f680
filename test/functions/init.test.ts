// What Lambda loads: init.mjs, which warms up before it hands the handler over.

import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { expect, onTestFinished, test } from "vitest";

import { startStripe } from "../../local/stripe/server.ts";
import { startTable } from "../../local/table/server.ts";

const INIT = fileURLToPath(new URL("../../dist/payment-worker/init.mjs", import.meta.url));
// A port of 127.0.0.1 on which nothing listens.
const NOWHERE = "http://127.0.0.1:9";

const TLS = new URL("../fixtures/tls/", import.meta.url);

async function startServers(tls?: { cert: Buffer; key: Buffer }) {
  const [table, stripe] = await Promise.all([startTable({ tls }), startStripe({ tls })]);
  onTestFinished(async () => {
    await Promise.all([table.stop(), stripe.stop()]);
  });
  const env = {
    STRIPE_API_KEY: "sk_test_local",
    AWS_ENDPOINT_URL_DYNAMODB: table.url,
    STRIPE_API_BASE: stripe.url,
  };
  return { table, stripe, env };
}

/** Loads init.mjs in a process of its own, and answers with what that wrote. */
async function load(env: Record<string, string>): Promise<string[]> {
  const script = `const { handler } = await import(${JSON.stringify(INIT)}); console.log(typeof handler);`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--input-type=module", "--eval", script],
    {
      timeout: 20_000,
      env: {
        AWS_REGION: "us-east-1",
        AWS_ACCESS_KEY_ID: "local",
        AWS_SECRET_ACCESS_KEY: "local",
        AWS_ENDPOINT_URL_SQS: NOWHERE,
        RECORDS_TABLE: "records",
        QUEUE_URL: `${NOWHERE}/000000000000/payments`,
        ...env,
      },
    },
  );
  return stdout.trim().split("\n");
}

test("warming up asks nothing of the table or of Stripe, and writes nothing", async () => {
  const { table, stripe, env } = await startServers();

  const written = await load(env);

  expect(written).toEqual(["function"]);
  expect(table.connections()).toBe(0);
  expect(stripe.connections()).toBe(0);
});

test("connections that take a TLS handshake are opened, one for each message of a batch", async () => {
  const { table, stripe, env } = await startServers({
    cert: readFileSync(new URL("certificate.pem", TLS)),
    key: readFileSync(new URL("key.pem", TLS)),
  });

  const written = await load({
    ...env,
    BATCH_SIZE: "3",
    NODE_EXTRA_CA_CERTS: fileURLToPath(new URL("certificate.pem", TLS)),
  });

  expect(written).toEqual(["function"]);
  expect([table.connections(), stripe.connections()]).toEqual([3, 3]);
  expect([...table.requests(), ...stripe.ledger.requests()]).toEqual([]);
});

test("a network that is down does not keep the worker from starting", async () => {
  const written = await load({
    STRIPE_SECRET_ARN: "arn:aws:secretsmanager:us-east-1:000000000000:secret:stripe",
    AWS_ENDPOINT_URL_SECRETS_MANAGER: NOWHERE,
    AWS_ENDPOINT_URL_DYNAMODB: NOWHERE,
    STRIPE_API_BASE: NOWHERE,
  });

  expect(written.at(-1)).toBe("function");
  expect(written).toHaveLength(2);
  expect(JSON.parse(written[0] ?? "")).toEqual({
    level: "WARN",
    message: expect.stringMatching(/^the first batch will be slower: /) as string,
  });
});
