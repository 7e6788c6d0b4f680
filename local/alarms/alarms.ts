// The alarms of a deployment, evaluated over what a local stack does. Time runs faster than in AWS:
// a period is as much shorter as `speed` says.
import type { Stack } from "../stack.ts";
import type { AlarmDefinition, Stat } from "./definition.ts";
import { evaluateExpression } from "./expression.ts";
import { collectMetrics } from "./metrics.ts";
import type { Metrics } from "./metrics.ts";

export type AlarmState = {
  name: string;
  description: string;
  fires: boolean;
  /** Of the newest period; absent without data. */
  value?: number;
  threshold: number;
  /** When it began to fire, epoch ms. */
  sinceMs?: number;
};

/** Whether an alarm fires at `now`, epoch ms. `before` is whether it did, for data that is missing. */
export function evaluateAlarm(
  definition: AlarmDefinition,
  metrics: Metrics,
  { now, speed, before }: { now: number; speed: number; before: boolean },
): { fires: boolean; value: number | undefined } {
  const { periods, threshold, missing } = definition;
  const periodMs = (1_000 * definition.periodSeconds) / speed;
  // Periods that end now, where AWS's end at full minutes: it fires as soon, or sooner.
  const values = Array.from({ length: periods }, (_, index) =>
    valueOf(definition, metrics, now - (index + 1) * periodMs, now - index * periodMs),
  );
  const seen = values.filter((value) => value !== undefined);
  if (seen.length === 0 && missing === "ignore") return { fires: before, value: undefined };
  const breaching = values.filter((value) =>
    value === undefined ? missing !== "notBreaching" : value >= threshold,
  );
  return { fires: breaching.length === periods, value: values[0] };
}

function valueOf(
  { value }: AlarmDefinition,
  metrics: Metrics,
  from: number,
  to: number,
): number | undefined {
  const read = (stat: Stat) => metrics.read(stat, from, to);
  if ("metric" in value) return read(value);
  const stats = Object.entries(value.stats).map(([id, stat]) => [id, read(stat)] as const);
  return evaluateExpression(value.expression, Object.fromEntries(stats));
}

export type Alarms = {
  /** Every alarm as it is now. */
  states: () => Promise<AlarmState[]>;
  stop: () => void;
};

/** `speed` is how many of AWS's seconds one of this machine's stands for. */
export function startAlarms(
  stack: Stack,
  definitions: readonly AlarmDefinition[],
  speed: number,
): Alarms {
  const metrics = collectMetrics(stack);
  const since = new Map<string, number>();
  const shortestMs = Math.min(...definitions.map((one) => (1_000 * one.periodSeconds) / speed));
  async function states(): Promise<AlarmState[]> {
    await metrics.sample();
    const now = Date.now();
    return definitions.map((definition) => {
      const { name, description, threshold } = definition;
      const before = since.get(name);
      const { fires, value } = evaluateAlarm(definition, metrics, {
        now,
        speed,
        before: before !== undefined,
      });
      if (fires !== (before !== undefined)) {
        if (fires) since.set(name, now);
        else since.delete(name);
        stack.feed.publish({ type: "alarm", name, fires });
      }
      const sinceMs = since.get(name);
      return {
        name,
        description,
        fires,
        ...(value !== undefined && { value }),
        threshold,
        ...(sinceMs !== undefined && { sinceMs }),
      };
    });
  }
  const timer = setInterval(() => void states(), Math.max(50, shortestMs / 2)).unref();
  return {
    states,
    stop() {
      clearInterval(timer);
      metrics.stop();
    },
  };
}
