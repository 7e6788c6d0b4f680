import { execFileSync, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { Agent, get } from "node:https";
import { dirname, join } from "node:path";

import { freePort } from "./ports.ts";

const ROOT = join(import.meta.dirname, "..", "..");
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
 * Starts ministack, an AWS of other people's making, on a free port of 127.0.0.1. It decides each request
 * by IAM's rules, so the deployment runs over TLS and the function has no more than its role's
 * permissions. `folder` keeps its certificate.
 *
 * @throws Error when it is not installed, or does not answer within 30 s.
 */
export async function startEmulator(folder: string): Promise<Emulator> {
  if (!existsSync(MINISTACK)) {
    throw new Error("ministack is not installed: run `bash test/deploy/install.sh` first.");
  }
  const port = await freePort();
  const url = `https://localhost:${port}`; // not 127.0.0.1: CDK puts bucket names before the host
  const certificate = makeCertificate(folder);
  const environment = {
    ...process.env,
    // Functions, too, run on the Node that runs this.
    PATH: `${dirname(process.execPath)}:${process.env["PATH"]}`,
    AWS_ENDPOINT_URL: url,
    AWS_REGION: "us-east-1",
    AWS_DEFAULT_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "test",
    AWS_SECRET_ACCESS_KEY: "test",
    NODE_EXTRA_CA_CERTS: certificate.cert, // for functions
    AWS_CA_BUNDLE: certificate.cert, // for the CDK
  };
  const httpsAgent = new Agent({ ca: readFileSync(certificate.cert), keepAlive: false });
  const lines: string[] = [];
  const child = spawn(MINISTACK, [], {
    env: {
      ...environment,
      TMPDIR: folder,
      GATEWAY_PORT: String(port),
      BIND_HOST: "127.0.0.1",
      AUTH: "true",
      USE_SSL: "1",
      MINISTACK_SSL_CERT: certificate.cert,
      MINISTACK_SSL_KEY: certificate.key,
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

/** A certificate for localhost that signs itself; both are paths. */
function makeCertificate(folder: string): { cert: string; key: string } {
  const cert = join(folder, "localhost.crt");
  const key = join(folder, "localhost.key");
  const names = "subjectAltName=DNS:localhost,IP:127.0.0.1";
  execFileSync(
    "openssl",
    [
      "req",
      "-x509",
      "-newkey",
      "rsa:2048",
      "-nodes",
      "-days",
      "2",
      "-subj",
      "/CN=localhost",
    ].concat(["-addext", names, "-keyout", key, "-out", cert]),
    { stdio: "ignore" },
  );
  return { cert, key };
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
