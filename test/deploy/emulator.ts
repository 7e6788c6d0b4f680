import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { Agent, get } from "node:https";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";

const ROOT = join(import.meta.dirname, "..", "..");
// A certificate for localhost that signs itself.
const TLS = join(ROOT, "test", "fixtures", "tls");
const CERTIFICATE = join(TLS, "certificate.pem");
const MINISTACK = join(ROOT, ".local", "ministack", "bin", "ministack");

export type Emulator = {
  url: string;
  /** The environment of a program that takes the emulator for AWS. */
  environment: Record<string, string | undefined>;
  /** The options of an SDK client. */
  client: {
    endpoint: string;
    region: string;
    credentials: { accessKeyId: string; secretAccessKey: string };
    requestHandler: { httpsAgent: Agent };
  };
  /** What the emulator wrote last, for a failed test. */
  log(): string;
  /** Ends the emulator and the functions that it started. */
  stop(): Promise<void>;
};

/**
 * Starts ministack, an independent emulator of AWS, on a free port of 127.0.0.1. It decides each request
 * by IAM's rules, so the deployment runs over TLS and the function has no more than its role's
 * permissions. `folder` keeps its files.
 *
 * @throws Error when it is not installed, or does not answer within 30 s.
 */
export async function startEmulator(folder: string): Promise<Emulator> {
  if (!existsSync(MINISTACK)) {
    throw new Error("ministack is not installed: run `bash test/deploy/install.sh` first.");
  }
  const port = await freePort();
  const url = `https://localhost:${port}`; // not 127.0.0.1: CDK puts bucket names before the host
  const environment = {
    ...process.env,
    // Functions, too, run on the Node that runs this.
    PATH: `${dirname(process.execPath)}:${process.env["PATH"]}`,
    AWS_ENDPOINT_URL: url,
    AWS_REGION: "us-east-1",
    AWS_DEFAULT_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "test",
    AWS_SECRET_ACCESS_KEY: "test",
    NODE_EXTRA_CA_CERTS: CERTIFICATE, // for functions
    AWS_CA_BUNDLE: CERTIFICATE, // for the CDK
  };
  const httpsAgent = new Agent({ ca: readFileSync(CERTIFICATE), keepAlive: false });
  const lines: string[] = [];
  const child = spawn(MINISTACK, [], {
    env: {
      ...environment,
      TMPDIR: folder,
      GATEWAY_PORT: String(port),
      BIND_HOST: "127.0.0.1",
      AUTH: "true",
      USE_SSL: "1",
      MINISTACK_SSL_CERT: CERTIFICATE,
      MINISTACK_SSL_KEY: join(TLS, "key.pem"),
    },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true, // with its functions it forms a group, which ends as one
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => lines.push(text));
  }
  const emulator: Emulator = {
    url,
    environment,
    client: {
      endpoint: url,
      region: "us-east-1",
      credentials: { accessKeyId: "test", secretAccessKey: "test" },
      requestHandler: { httpsAgent },
    },
    log: () => lines.join("").slice(-4_000),
    stop: () => stopGroup(child),
  };
  await untilReady(emulator, child);
  return emulator;
}

/** A port of 127.0.0.1 that nobody listens on, for a program that cannot choose one itself. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function answers(url: string, agent: Agent): Promise<boolean> {
  return new Promise((resolve) => {
    get(url, { agent }, (response) => resolve(response.resume().statusCode === 200)).once(
      "error",
      () => resolve(false),
    );
  });
}

async function untilReady(emulator: Emulator, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (Date.now() < deadline && child.exitCode === null) {
    const { httpsAgent } = emulator.client.requestHandler;
    if (await answers(`${emulator.url}/_ministack/health`, httpsAgent)) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  await emulator.stop();
  throw new Error(`ministack did not start: ${emulator.log()}`);
}

async function stopGroup(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  process.kill(-child.pid, "SIGKILL");
  await ended;
}
