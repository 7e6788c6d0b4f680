import type { AddressInfo, Server } from "node:net";

import { onTestFinished } from "vitest";

/** Listens on a free port of 127.0.0.1 until the test is finished, and answers with the port. */
export async function listen(
  server: Server & { closeAllConnections?: () => void },
): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections?.();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}
