// Builds the worker's bundle once before the tests: they run the file that is deployed.
import { existsSync } from "node:fs";

const BUILD = new URL("../../scripts/build.ts", import.meta.url);

export default async function setup(): Promise<void> {
  if (!existsSync(BUILD)) return;
  const { build } = (await import(BUILD.href)) as { build: () => Promise<void> };
  await build();
}
