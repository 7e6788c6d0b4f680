// The agent whose connections are open before the first request, against a server that speaks TLS.

import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { createServer, get } from "node:https";
import { createServer as createTcpServer } from "node:net";
import type { Server } from "node:net";

import { Stripe } from "stripe";
import { expect, onTestFinished, test } from "vitest";

import { httpsConnections } from "../../../lib/net/connections.ts";
import { stripeHttpClient } from "../../../lib/stripe/http-client.ts";
import { listenTo } from "../../support/listen.ts";

const cert = readFileSync(new URL("../../fixtures/tls/certificate.pem", import.meta.url));
const key = readFileSync(new URL("../../fixtures/tls/key.pem", import.meta.url));

async function listen(server: Server) {
  const { port, sockets } = await listenTo(server);
  return { address: new URL(`https://127.0.0.1:${port}`), sockets };
}

const listenTls = () =>
  listen(createServer({ cert, key }, (_request, response) => response.end("fine")));

/** Connections whose clock stands until it is moved, and which trust the server's certificate. */
function prepare() {
  const clock = { now: 5_000 };
  const connections = httpsConnections(() => clock.now);
  connections.agent.options.ca = cert;
  onTestFinished(() => connections.agent.destroy());
  const request = (address: URL) =>
    new Promise<string>((resolve, reject) => {
      const sent = get(address, { agent: connections.agent }, (response: IncomingMessage) => {
        response.setEncoding("utf8").once("data", (text: string) => {
          response.once("end", () => resolve(text)); // and the agent has its connection back
        });
      });
      sent.on("error", reject);
    });
  return { ...connections, clock, request };
}

test("requests take the connections that are open, and open no others", async () => {
  const { address, sockets } = await listenTls();
  const { open, request } = prepare();
  await open(address, 2, 5_000);

  const answers = await Promise.all([request(address), request(address)]);

  expect(answers).toEqual(["fine", "fine"]);
  expect(await request(address)).toBe("fine"); // kept since
  expect(sockets).toHaveLength(2);
});

test("a connection to one server is not taken for another", async () => {
  const [one, other] = await Promise.all([listenTls(), listenTls()]);
  const { open, request } = prepare();
  await open(one.address, 1, 5_000);

  await request(other.address);

  expect([one.sockets.length, other.sockets.length]).toEqual([1, 1]);
});

test.each([
  { waited: 9_999, opened: 1 },
  { waited: 10_000, opened: 2 },
])("a connection that has waited for $waited ms: $opened in all", async ({ waited, opened }) => {
  const { address, sockets } = await listenTls();
  const { open, request, clock } = prepare();
  await open(address, 1, 5_000);
  clock.now += waited;

  await request(address);

  expect(sockets).toHaveLength(opened);
  await expect.poll(() => sockets.filter(({ closed }) => closed)).toHaveLength(opened - 1);
});

test("a connection that the server has closed while it waited is not taken", async () => {
  const { address, sockets } = await listenTls();
  const { open, request } = prepare();
  await open(address, 1, 5_000);
  const [idle] = sockets;
  idle?.end();
  await expect.poll(() => idle?.closed).toBe(true); // the agent's side has closed it too

  expect(await request(address)).toBe("fine");
  expect(sockets).toHaveLength(2);
});

test("a request to Stripe whose open connection is dropped tries once more, on a fresh one", async () => {
  const { address, sockets } = await listen(
    createServer({ cert, key }, (request) => request.socket.destroy()),
  );
  const { open, agent } = prepare();
  await open(address, 1, 5_000);
  const stripe = new Stripe("sk_test_local", {
    httpClient: stripeHttpClient(agent),
    host: address.hostname,
    port: Number(address.port),
    maxNetworkRetries: 0,
  });

  const error: unknown = await stripe.paymentIntents.retrieve("pi_1").catch((e: unknown) => e);

  // A fresh connection trusts what Node trusts, and so not this server.
  expect(error).toMatchObject({ detail: { cause: { code: "DEPTH_ZERO_SELF_SIGNED_CERT" } } });
  expect(sockets).toHaveLength(2);
});

test("a connection that breaks while it waits breaks nothing, and is not taken", async () => {
  const [one, other] = await Promise.all([listenTls(), listenTls()]);
  const { open, request } = prepare();
  await open(one.address, 1, 5_000);
  one.sockets[0]?.write("not TLS"); // which the waiting side cannot read
  await request(other.address); // a handshake later the break has been noticed

  expect(await request(one.address)).toBe("fine");
  expect(one.sockets).toHaveLength(2);
});

test("a server that never answers the handshake is an error that names it, in time", async () => {
  const { address, sockets } = await listen(createTcpServer((socket) => socket.resume()));
  const { open } = prepare();

  await expect(open(address, 1, 50)).rejects.toThrow(`no connection to ${address.host}`);

  await expect.poll(() => sockets[0]?.closed).toBe(true);
});

test("a server whose certificate nobody vouches for is an error", async () => {
  const { address } = await listenTls();
  const { open, agent } = prepare();
  delete agent.options.ca;

  await expect(open(address, 1, 5_000)).rejects.toMatchObject({
    message: `no connection to ${address.host}`,
    cause: { code: "DEPTH_ZERO_SELF_SIGNED_CERT" },
  });
});
