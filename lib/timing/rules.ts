// Rules between durations: a name, a condition, and the sentence to print when it is broken.

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export const inSeconds = (ms: number): string => `${ms / SECOND} s`;
export const inHours = (ms: number): string => `${ms / HOUR} h`;
export const inDays = (ms: number): string => `${ms / DAY} d`;

/** Answers with a sentence when the rule is broken. */
export type Rule<T> = (timings: T) => string | undefined;

export const rule =
  <T>(name: string, holds: (t: T) => boolean, sentence: (t: T) => string): Rule<T> =>
  (timings) =>
    holds(timings) ? undefined : `${name}: ${sentence(timings)}`;

export const brokenRules = <T>(rules: readonly Rule<T>[], timings: T): string[] =>
  rules.map((check) => check(timings)).filter((sentence) => sentence !== undefined);

/** Every number must be one to calculate with. */
export const finiteNumber: Rule<Readonly<Record<string, number>>> = (timings) => {
  const wrong = Object.entries(timings).find(([, value]) => !(value >= 0 && value < Infinity));
  return (
    wrong && `finite-number: ${wrong[0]} is ${wrong[1]}; it must be a number that is not negative.`
  );
};
