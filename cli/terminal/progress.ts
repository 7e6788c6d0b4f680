// A progress bar with counts and an estimate, on stderr, for what takes longer than a moment.

const FIRST_MS = 700; // what is done by then needs no bar
const REDRAW_MS = 100;
const PLAIN_MS = 10_000; // in a log file, a line now and then instead of a bar

export type Progress = ReturnType<typeof startProgress>;

type Out = { isTTY?: boolean; columns?: number; write: (text: string) => unknown };

/** Starts a bar: "records  [=====>    ]  1,200 of 4,000, about 12 s left". */
export function startProgress(
  what: string,
  total?: number,
  out: Out = process.stderr,
  now: () => number = () => performance.now(),
) {
  const startedAt = now();
  let expected = total;
  let count = 0;
  let drawnAt = startedAt;
  let drawn = false;

  const draw = (): void => {
    const at = now();
    const due = drawn ? drawnAt + (out.isTTY ? REDRAW_MS : PLAIN_MS) : startedAt + FIRST_MS;
    if (at < due) return;
    drawnAt = at;
    drawn = true;
    const line = progressLine(what, count, expected, at - startedAt);
    if (out.isTTY) out.write(`\r\x1b[K${line.slice(0, (out.columns ?? 80) - 1)}`);
    else out.write(`${line}\n`);
  };

  return {
    advance(by = 1): void {
      count += by;
      draw();
    },
    /** Corrects how much there is in all. */
    expect(total: number): void {
      expected = total;
      draw();
    },
    /** Takes the bar away; safe to call twice. */
    done(): void {
      if (drawn && out.isTTY) out.write("\r\x1b[K");
      drawn = false;
      drawnAt = Infinity;
    },
  };
}

const WIDTH = 24;

const number = (value: number): string => value.toLocaleString("en-US");

/** One state of the bar. `elapsedMs` is since its start. */
export function progressLine(
  what: string,
  count: number,
  total: number | undefined,
  elapsedMs: number,
): string {
  if (!total) {
    return `${what}  ${number(count)} so far, ${duration(elapsedMs)}`;
  }
  // Counts of queues and tables are estimates: there may turn out to be more.
  const share = Math.min(1, count / total);
  const filled = Math.round(share * WIDTH);
  const bar = `${"=".repeat(filled)}${" ".repeat(WIDTH - filled)}`;
  const left = count === 0 ? "" : `, about ${duration((elapsedMs / share) * (1 - share))} left`;
  return `${what}  [${bar}]  ${number(count)} of ${number(total)}${left}`;
}

/** A length of time for a person: "3 s", "12 min", "5 h 20 min", "13 d 4 h". */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  const days = Math.floor(hours / 24);
  return hours % 24 === 0 ? `${days} d` : `${days} d ${hours % 24} h`;
}
