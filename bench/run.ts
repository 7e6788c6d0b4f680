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

const PARTS: Record<string, (bench: Bench) => Section | Promise<Section>> = {
  bundle: measureBundles,
  requests: countRequests,
  cold: measureCold,
  warm: measureWarm,
};

const COMMAND = {
  name: "bench",
  usage: "npm run bench -- [PART…] [--markdown]",
  about:
    "Measures the shipped worker beside Powertools and bare HTTP, with everything on this machine: about three minutes on one with two idle cores.",
  options: { markdown: flag("the tables as they stand in bench/RESULTS.md") },
  positionals: "part",
  notes: `Parts: ${Object.keys(PARTS).join(", ")}. All when none is named.`,
};

async function main(): Promise<void> {
  const { values, positionals } = readArguments(COMMAND);
  const unknown = positionals.find((name) => !(name in PARTS));
  if (unknown !== undefined) throw new UsageError(`"${unknown}" is not a part. See --help.`);
  const wanted = Object.entries(PARTS).filter(
    ([name]) => positionals.length === 0 || positionals.includes(name),
  );

  const interrupted = interruption().then(() => "interrupted" as const);
  const bundles = await buildVariants();
  const bench = { bundles, servers: await startServers(), throttle: createThrottle() };
  const measured = measure(
    wanted.map(([, part]) => part),
    bench,
  );
  try {
    const sections = await Promise.race([measured, interrupted]);
    // Its workers end with this process.
    if (sections === "interrupted") process.exitCode = 130;
    else console.log((values.markdown ? markdown : text)(sections, limits(bench)));
  } finally {
    bench.servers.stop();
    await bench.throttle?.remove();
  }
  process.exit();
}

async function measure(
  parts: readonly ((bench: Bench) => Section | Promise<Section>)[],
  bench: Bench,
): Promise<Section[]> {
  const sections: Section[] = [];
  for (const part of parts) sections.push(await part(bench));
  return sections;
}

await runCommand(main);
