// npm run bench [-- PART…]: the shipped worker beside what people build today, in one run.

import { flag, readArguments } from "../cli/terminal/arguments.ts";
import { interruption, runCommand, UsageError } from "../cli/terminal/command.ts";
import { measureBundles } from "./bundle.ts";
import { measureCold } from "./cold.ts";
import { limits, markdown, text } from "./report.ts";
import type { Section } from "./report.ts";
import { countRequests } from "./requests.ts";
import { startServers } from "./servers.ts";
import type { Bench } from "./settings.ts";
import { createThrottle } from "./throttle.ts";
import { buildVariants } from "./variants.ts";
import { measureWarm } from "./warm.ts";

type Part = (bench: Bench) => Section | Promise<Section>;

const PARTS = new Map<string, Part>([
  ["bundle", measureBundles],
  ["requests", countRequests],
  ["cold", measureCold],
  ["warm", measureWarm],
]);

const COMMAND = {
  name: "bench",
  usage: "npm run bench -- [PART…] [--markdown]",
  about:
    "Measures the shipped worker beside Powertools and bare HTTP, with everything on this machine: about three minutes on one with two idle cores.",
  options: { markdown: flag("the tables as they stand in bench/RESULTS.md") },
  positionals: "part",
  notes: `Parts: ${[...PARTS.keys()].join(", ")}. All when none is named.`,
};

async function main(): Promise<void> {
  const { values, positionals } = readArguments(COMMAND);
  const unknown = positionals.find((name) => !PARTS.has(name));
  if (unknown !== undefined) throw new UsageError(`"${unknown}" is not a part. See --help.`);
  const parts = [...PARTS].flatMap(([name, part]) =>
    positionals.length === 0 || positionals.includes(name) ? [part] : [],
  );

  const interrupted = interruption().then(() => undefined);
  const stops: Stop[] = [];
  try {
    const result = await Promise.race([measure(parts, stops), interrupted]);
    if (result) console.log((values.markdown ? markdown : text)(result.sections, result.notes));
    else process.exitCode = 130;
  } finally {
    for (const stop of stops) await stop();
  }
  process.exit(); // and with it, the worker that was just running
}

type Stop = () => void | Promise<void>;

/** `stops` gets what ends all that was started. */
async function measure(parts: readonly Part[], stops: Stop[]) {
  const bundles = await buildVariants();
  const throttle = createThrottle();
  if (throttle) stops.push(() => throttle.remove());
  const servers = await startServers();
  stops.push(() => servers.stop());
  const bench = { bundles, servers, throttle };
  const sections: Section[] = [];
  for (const part of parts) sections.push(await part(bench));
  return { sections, notes: limits(bench) };
}

await runCommand(main);
