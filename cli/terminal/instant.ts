// Points in time as a person types them: "90m" for so long ago, or a date.
import { UsageError } from "./command.ts";

const UNITS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * Epoch ms of "30s", "90m", "24h" or "7d" before `now`, of a date, or of an RFC 3339 time.
 *
 * @throws UsageError that names the option
 */
export function readInstant(option: string, text: string, now: number): number {
  const [, count, unit] = /^(\d{1,5})([smhd])$/.exec(text) ?? [];
  if (count !== undefined && unit !== undefined) return now - Number(count) * (UNITS[unit] ?? 0);
  const instant = /^\d{4}-\d\d-\d\d(T.+(Z|[+-]\d\d:\d\d))?$/.test(text) ? Date.parse(text) : NaN;
  if (!Number.isNaN(instant)) return instant;
  throw new UsageError(
    `${option} must be like 90m, 24h, 7d, 2026-11-29 or 2026-11-29T12:00:00Z, not "${text}".`,
  );
}
