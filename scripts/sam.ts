// npm run sam: one event through the function in a container, by `sam local invoke`.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { flag, readArguments } from "../cli/terminal/arguments.ts";
import { interruption, runCommand, UsageError } from "../cli/terminal/command.ts";
import { startStack } from "../local/stack.ts";
import { build } from "./build.ts";
import { eventFile, locate, readEvent } from "./read-event.ts";
import { findRunningStack } from "./running-stack.ts";
import { bridgeAddress, engineArchitecture, startRelay } from "./sam/docker.ts";
import { containerVariables, HOST, samEnvironment, samTemplate } from "./sam/files.ts";

const COMMAND = {
  name: "sam",
  usage: "npm run sam -- events/payment.json",
  about: `
Runs the worker once with this event, in a container.

Needs Docker and the SAM CLI. Table, queue and Stripe are those of the local stack that npm start
keeps up; without one, a fresh stack for this one call. On Linux, where a container does not reach
127.0.0.1, the servers' ports are open on Docker's bridge during the call, to every container of
this machine. For sam lines of your own: npm start -- --container keeps them open.`,
  options: {
    files: flag("writes the files that sam takes, prints the line, runs nothing"),
    "skip-pull-image": flag("uses the image that is there, without asking AWS's registry"),
  },
  positionals: "event file",
  notes: `
The template is for SAM alone: the function as it is deployed, on this machine's processor. The
samples in events/ get old, so MAX_MESSAGE_AGE_SECONDS and RECORD_TTL_SECONDS are raised to decades.`,
};

const FOLDER = ".local";
const TEMPLATE = join(FOLDER, "sam-template.json");
const ENVIRONMENT = join(FOLDER, "sam-environment.json");

await runCommand(async () => {
  const { values, positionals } = readArguments(COMMAND);
  const running = findRunningStack();
  if (values.files) {
    if (!running) {
      throw new UsageError(
        "There is no local stack to point at: keep `npm start -- --container` up, then run this.",
      );
    }
    await build();
    await writeFiles(running.env);
    console.log(["sam", ...samArguments("events/payment.json")].join(" "));
    return;
  }
  const file = eventFile(positionals);
  readEvent(file);
  await engineArchitecture(); // fails before anything is started
  await build();

  await using atEnd = new AsyncDisposableStack();
  const fresh = running ? undefined : await startStack();
  if (fresh) atEnd.defer(() => fresh.stop());
  const env = running?.env ?? fresh?.worker.env ?? {};
  await writeFiles(env);
  const bridge = running?.bridge ? undefined : await bridgeAddress();
  if (bridge) atEnd.defer(await startRelay(bridge, env));
  process.exitCode = await sam([
    ...samArguments(locate(file)),
    ...(values["skip-pull-image"] ? ["--skip-pull-image"] : []),
  ]);
});

async function writeFiles(env: Record<string, string>): Promise<void> {
  const variables = containerVariables(env);
  mkdirSync(FOLDER, { recursive: true });
  const template = samTemplate(await engineArchitecture(), variables);
  writeFileSync(TEMPLATE, `${JSON.stringify(template, undefined, 2)}\n`);
  writeFileSync(ENVIRONMENT, `${JSON.stringify(samEnvironment(variables), undefined, 2)}\n`);
}

function samArguments(event: string): string[] {
  const files = ["--template", TEMPLATE, "--event", event, "--env-vars", ENVIRONMENT];
  const network = ["--region", "us-east-1", "--add-host", `${HOST}:host-gateway`];
  return ["local", "invoke", ...files, ...network];
}

/** Runs the SAM CLI, which stops its container on Ctrl-C itself, and returns its exit status. */
async function sam(args: string[]): Promise<number> {
  void interruption();
  const installed = join(FOLDER, "sam", "bin", "sam"); // by npm run sam-suite:install
  const child = spawn(existsSync(installed) ? resolve(installed) : "sam", args, {
    stdio: "inherit",
  });
  try {
    const [code] = (await once(child, "exit")) as [number | null];
    console.log(); // SAM ends the answer without one
    return code ?? 1;
  } catch (error) {
    throw new UsageError(
      "There is no `sam` command: install the AWS SAM CLI, or use `npm run invoke`, which needs none.",
      { cause: error },
    );
  }
}
