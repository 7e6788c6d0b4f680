// A handle on the servers' process.

import { fork } from "node:child_process";

export type Latency = { table: number; stripe: number };

export type Counts = {
  /** By operation of the table, and by method for Stripe. */
  requests: Record<string, number>;
  connections: number;
};

export type Command =
  | { kind: "start" }
  /** Sets the answers' delay in ms and the counts to zero; a silent Stripe never answers. */
  | { kind: "set"; latencyMs: Latency; silent: boolean }
  | { kind: "counts" };

export type Addresses = { table: string; stripe: string };

export type Servers = {
  /** Over plain HTTP, and over TLS as with AWS and Stripe themselves. */
  plain: Addresses;
  tls: Addresses;
  set(latencyMs: Latency, options?: { silent: boolean }): Promise<void>;
  counts(): Promise<Counts>;
  stop(): void;
};

/** Starts the table and Stripe on free ports of 127.0.0.1. */
export async function startServers(): Promise<Servers> {
  const child = fork(new URL("./server-process.ts", import.meta.url));
  const ask = <Answer>(command: Command): Promise<Answer> =>
    new Promise((resolve, reject) => {
      child.once("exit", reject);
      child.once("message", (answer) => {
        child.off("exit", reject);
        resolve(answer as Answer);
      });
      child.send(command);
    });
  const addresses = await ask<Pick<Servers, "plain" | "tls">>({ kind: "start" });
  return {
    ...addresses,
    set: async (latencyMs, { silent } = { silent: false }) => {
      await ask<Counts>({ kind: "set", latencyMs, silent });
    },
    counts: () => ask<Counts>({ kind: "counts" }),
    stop: () => void child.kill(),
  };
}
