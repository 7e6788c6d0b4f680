// What a cold start has to load.

import type { Section } from "./report.ts";
import type { Bench } from "./settings.ts";
import { VARIANTS } from "./variants.ts";

const kilobytes = (bytes: number) => String(Math.round(bytes / 1_000));

/** A guard of each function's own bundle is in test/scripts/build.test.ts. */
export function measureBundles({ bundles: { variants, functions } }: Bench): Section {
  const beside = (other: keyof typeof variants, figure: string) => ({
    figure,
    target: "",
    seen: (variants.worker.bytes / variants[other].bytes).toFixed(2),
    reached: "",
  });
  return {
    comparisons: [
      beside("Powertools", "bundle × Powertools"),
      beside("Powertools, every lever", "bundle × Powertools, every lever"),
    ],
    figures: [
      {
        figure: "bundle, kB",
        seen: Object.fromEntries(VARIANTS.map((v) => [v, kilobytes(variants[v].bytes)])),
      },
      ...Object.entries(functions)
        .filter(([name]) => name !== "payment-worker")
        .map(([name, bytes]) => ({
          figure: `bundle of ${name}, kB`,
          seen: { worker: kilobytes(bytes) },
        })),
    ],
  };
}
