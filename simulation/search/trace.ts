// A schedule as a table that a person can follow: when, who, what.

import { DAY, HOUR, MINUTE, SECOND, START } from "../world/scenario.ts";
import type { World } from "../world/world.ts";

type TraceLine = { at: number; who: string; what: string };

/** Lines under each other, their columns aligned. */
export function formatTrace(lines: readonly TraceLine[]): string {
  const rows = lines.map(({ at, who, what }) => [elapsed(at), who, what] as const);
  const widest = (column: 0 | 1) => Math.max(...rows.map((row) => row[column].length));
  const [times, names] = [widest(0), widest(1)];
  return rows
    .map(([time, who, what]) => `${time.padStart(times)}  ${who.padEnd(names)}  ${what}`)
    .join("\n");
}

/** The time since the start, in its two or three largest units. */
function elapsed(at: number): string {
  const ms = at - START;
  const parts: [number, string][] = [
    [Math.floor(ms / DAY), "d"],
    [Math.floor((ms % DAY) / HOUR), "h"],
    [Math.floor((ms % HOUR) / MINUTE), "min"],
    [(ms % MINUTE) / SECOND, "s"],
  ];
  return parts.flatMap(([n, unit]) => (n > 0 ? `${n} ${unit}` : [])).join(" ") || "0 s";
}

/** Collects the lines of a world that does not exist yet. */
export function collectTrace(): {
  lines: TraceLine[];
  record: (who: string, what: string) => void;
  watch: (world: World) => void;
} {
  const lines: TraceLine[] = [];
  let watched: World | undefined;
  return {
    lines,
    record: (who, what) => lines.push({ at: watched?.now ?? START, who, what }),
    watch(world) {
      watched = world;
    },
  };
}
