// How a container reaches the local servers, and on which processor it runs.
import { execFile } from "node:child_process";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { Server, Socket } from "node:net";
import { promisify } from "node:util";

import { UsageError } from "../../cli/terminal/command.ts";

/**
 * The processor that the Docker engine runs natively.
 *
 * @throws UsageError when there is no Docker, or no engine that answers
 */
export async function engineArchitecture(): Promise<"arm64" | "x86_64"> {
  const architecture = await docker("version", "--format", "{{.Server.Arch}}");
  return architecture === "arm64" ? "arm64" : "x86_64";
}

/**
 * This machine's address in the network of containers. `undefined` where Docker runs in a virtual
 * machine, as Docker Desktop does: there containers reach 127.0.0.1 itself.
 *
 * @throws UsageError when there is no Docker, or no engine that answers
 */
export async function bridgeAddress(): Promise<string | undefined> {
  if (process.platform !== "linux") return undefined;
  const config = await docker("network", "inspect", "bridge", "--format", "{{json .IPAM.Config}}");
  const networks = JSON.parse(config) as { Gateway?: string; Subnet?: string }[];
  const { Gateway, Subnet } = networks.find(({ Subnet }) => Subnet?.includes(".")) ?? {};
  // Older engines name it only after a container has run; the bridge has the network's first address.
  const address = Gateway ?? Subnet?.replace(/0\/\d+$/, "1");
  if (address === undefined) return undefined;
  try {
    await (await listen(createServer(), 0, address))[Symbol.asyncDispose]();
    return address;
  } catch {
    return undefined; // not an address of this machine
  }
}

async function docker(...args: string[]): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)("docker", args);
    return stdout.trim();
  } catch (error) {
    const { code, stderr } = error as { code?: unknown; stderr?: string };
    throw new UsageError(
      code === "ENOENT"
        ? "There is no `docker` command: install Docker, or use `npm run invoke`, which needs none."
        : `The Docker engine does not answer: start it. (${stderr?.trim()})`,
      { cause: error },
    );
  }
}

/**
 * Passes connections to `address`, on the ports that the variables' endpoints have, on to the same
 * ports of 127.0.0.1, until it is stopped. Every container of this machine can then connect.
 *
 * @throws UsageError when a port of that address is taken
 */
export async function startRelay(
  address: string,
  env: Record<string, string>,
): Promise<() => Promise<void>> {
  const found = Object.values(env).map((value) => /^http:\/\/127\.0\.0\.1:(\d+)/.exec(value)?.[1]);
  const ports = new Set(found.filter((port) => port !== undefined));
  const sockets = new Set<Socket>();
  const relays: Server[] = [];
  const stop = async (): Promise<void> => {
    const closed = relays.map((relay) => relay[Symbol.asyncDispose]());
    for (const socket of sockets) socket.destroy();
    await Promise.all(closed);
  };
  try {
    for (const port of ports) relays.push(await relay(address, Number(port), sockets));
  } catch (error) {
    await stop();
    throw new UsageError(`Containers cannot reach the local servers: ${(error as Error).message}`, {
      cause: error,
    });
  }
  return stop;
}

async function relay(address: string, port: number, sockets: Set<Socket>): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, (outer) => {
    const inner = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    for (const [from, to] of [
      [outer, inner],
      [inner, outer],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on("error", () => to.destroy());
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  return listen(server, port, address);
}

async function listen(server: Server, port: number, address: string): Promise<Server> {
  server.listen(port, address);
  await once(server, "listening");
  return server;
}
