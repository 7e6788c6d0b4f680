// A handle on the servers' process: local/'s table and Stripe, over TLS as with AWS and Stripe.

import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

export type Addresses = { table: string; stripe: string };
/** How long each answer takes, in ms. */
export type Latency = { table: number; stripe: number };
/** Requests to each, and connections to both. */
export type Counts = { table: number; stripe: number; opened: number };

/** For 127.0.0.1 only, and trusted by nobody else. */
export const CERTIFICATE = pathOf("certificate.pem");
export const KEY = pathOf("key.pem");

export type Servers = {
  addresses: Addresses;
  setLatency(latency: Latency): Promise<void>;
  /** What happened while this ran. */
  during(run: () => Promise<unknown>): Promise<Counts>;
  stop(): void;
};

/** Starts both on free ports of 127.0.0.1, in a process of their own: they do not share a worker's CPU. */
export async function startServers(): Promise<Servers> {
  const child = fork(new URL("./server-process.ts", import.meta.url));
  const reply = <Reply>(): Promise<Reply> =>
    new Promise((resolve, reject) => {
      child.once("exit", reject);
      child.once("message", (message) => {
        child.off("exit", reject);
        resolve(message as Reply);
      });
    });
  const set = (latency?: Latency): Promise<Counts> => {
    child.send({ latency });
    return reply<Counts>();
  };
  const addresses = await reply<Addresses>();
  return {
    addresses,
    setLatency: async (latency) => void (await set(latency)),
    async during(run) {
      const before = await set();
      await run();
      const { table, stripe, opened } = await set();
      return {
        table: table - before.table,
        stripe: stripe - before.stripe,
        opened: opened - before.opened,
      };
    },
    stop: () => void child.kill("SIGKILL"),
  };
}

function pathOf(name: string): string {
  return fileURLToPath(new URL(`../test/fixtures/tls/${name}`, import.meta.url));
}
