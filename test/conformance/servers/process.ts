// An independent server, as a child process on a port that it chose itself.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export type ExternalServer = { url: string; stop: () => Promise<void> };

/** Where install.sh puts the servers. */
export const INSTALLED = fileURLToPath(new URL("../../../.local/conformance", import.meta.url));

const START_MS = 60_000;
const STOP_MS = 5_000;
const PORT = /(?:127\.0\.0\.1|localhost):([1-9]\d*)/;

/**
 * Starts the program and reads its port from the first line of its output that `announces` it.
 *
 * @throws Error when it is not installed, ends, or does not announce its port within a minute
 */
export async function startProcess(options: {
  program: string;
  args: string[];
  env?: Record<string, string>;
  announces: RegExp;
  /** A file that is there once it is installed; the program itself when left out. */
  installed?: string;
}): Promise<ExternalServer> {
  const { program, args, env, announces, installed = program } = options;
  if (!existsSync(installed)) {
    throw new Error(`There is no ${installed}: run "npm run conformance:install" first.`);
  }
  const child = spawn(program, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  const stop = async (): Promise<void> => {
    process.off("exit", kill);
    child.kill("SIGTERM"); // so that it tidies up after itself
    const impatient = setTimeout(kill, STOP_MS);
    await ended;
    clearTimeout(impatient);
  };

  const said: string[] = [];
  const port = new Promise<string>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on("line", (line) => {
        said.push(line);
        const found = announces.test(line) ? PORT.exec(line)?.[1] : undefined;
        if (found !== undefined) resolve(found);
      });
    }
  });
  const late = new Promise<undefined>((resolve) => {
    setTimeout(resolve, START_MS, undefined).unref();
  });

  const found = await Promise.race([port, ended, late]);
  if (found === undefined) {
    await stop();
    throw new Error(`${program} did not start:\n${said.join("\n")}`);
  }
  return { url: `http://127.0.0.1:${found}`, stop };
}
