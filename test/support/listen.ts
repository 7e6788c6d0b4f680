import type { AddressInfo, Server, Socket } from "node:net";

import { onTestFinished } from "vitest";

/** Listens on a free port of 127.0.0.1 until the test is finished; `sockets` are its connections. */
export async function listenTo(server: Server): Promise<{ port: number; sockets: Socket[] }> {
  const sockets: Socket[] = [];
  server.on("connection", (socket) => void sockets.push(socket.on("error", () => {})));
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, sockets };
}

export const listen = async (server: Server): Promise<number> => (await listenTo(server)).port;
