// What Lambda loads: init.mjs, which warms up before it hands the handler over.

import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { expect, onTestFinished, test } from "vitest";

import { startStripe } from "../../local/stripe/server.ts";
import { startTable } from "../../local/table/server.ts";

const INIT = fileURLToPath(new URL("../../dist/payment-worker/init.mjs", import.meta.url));
// A port of 127.0.0.1 on which nothing listens.
const NOWHERE = "http://127.0.0.1:9";

const TLS = new URL("../fixtures/tls/", import.meta.url);

/** A server that speaks TLS, and may not be asked anything. */
async function listenTls() {
  const [cert, key] = await Promise.all(
    ["certificate.pem", "key.pem"].map((name) => readFile(new URL(name, TLS))),
  );
  let handshakes = 0;
  const server = createServer({ cert, key }, () => {
    throw new Error("There was a request.");
  });
  server.on("secureConnection", () => (handshakes += 1));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `https://127.0.0.1:${port}`, handshakes: () => handshakes };
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
  const [table, stripe] = await Promise.all([startTable(), startStripe()]);
  onTestFinished(async () => {
    await Promise.all([table.stop(), stripe.stop()]);
  });

  const written = await load({
    STRIPE_API_KEY: "sk_test_local",
    AWS_ENDPOINT_URL_DYNAMODB: table.url,
    STRIPE_API_BASE: stripe.url,
  });

  expect(written).toEqual(["function"]);
  expect(table.connections()).toBe(0);
  expect(stripe.connections()).toBe(0);
});

test("connections that take a TLS handshake are opened, one for each message of a batch", async () => {
  const [table, stripe] = await Promise.all([listenTls(), listenTls()]);

  const written = await load({
    STRIPE_API_KEY: "sk_test_local",
    AWS_ENDPOINT_URL_DYNAMODB: table.url,
    STRIPE_API_BASE: stripe.url,
    BATCH_SIZE: "3",
    NODE_EXTRA_CA_CERTS: fileURLToPath(new URL("certificate.pem", TLS)),
  });

  expect(written).toEqual(["function"]);
  expect([table.handshakes(), stripe.handshakes()]).toEqual([3, 3]);
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
