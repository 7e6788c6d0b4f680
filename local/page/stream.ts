// The live page's server-sent events: all of the view to begin with, then what has changed since. Each is
// what is, and never what to add: a page that comes back, or lags, misses and repeats nothing.
import type { ServerResponse } from "node:http";

import type { Feed } from "../feed.ts";
import type { StackEvent } from "../stack-event.ts";
import { readGauges } from "./gauges.ts";
import type { Gauges, Sources } from "./gauges.ts";
import { take } from "./take.ts";
import { emptyView, shown, summaryOf } from "./view.ts";
import type { View } from "./view.ts";

/** How long changes are gathered, so that a burst is a few pictures. */
const GATHER_MS = 150;
const GAUGE_MS = 1_000;

/** `extras` are parts of the picture that somebody else keeps. */
export function createStream(feed: Feed<StackEvent>, sources: Sources, extras: () => object) {
  const view: View = emptyView();
  /** The revision that each page has. */
  const pages = new Map<ServerResponse, number>();
  let gauges: Gauges | undefined;
  let gathering: NodeJS.Timeout | undefined;
  let reading = false;

  function flush(): void {
    gathering = undefined;
    const summary = { nowMs: Date.now(), ...summaryOf(view, Date.now()), ...gauges, ...extras() };
    for (const [page, revision] of pages) {
      // A page that does not read gets the next picture when it does.
      if (page.writableNeedDrain) continue;
      const rows = [...view.rows.values()].filter((row) => row.revision > revision);
      pages.set(page, view.revision);
      const picture = { whole: revision < 0, ...summary, rows: rows.map(shown) };
      page.write(`data: ${JSON.stringify(picture)}\n\n`);
    }
  }

  function changed(): void {
    if (pages.size > 0) gathering ??= setTimeout(flush, GATHER_MS);
  }

  async function gauge(): Promise<void> {
    if (reading || pages.size === 0) return;
    reading = true;
    try {
      gauges = await readGauges(view, sources);
    } catch {
      gauges = undefined; // the servers are stopping
    }
    reading = false;
    changed();
  }

  const unsubscribe = feed.subscribe((entry) => {
    take(view, entry);
    if (entry.type !== "log") changed();
  });
  const timer = setInterval(() => void gauge(), GAUGE_MS);

  return {
    view,
    /** Answers a page that follows. */
    follow(response: ServerResponse): void {
      response.write("retry: 500\n\n");
      pages.set(response, -1);
      response.on("drain", changed);
      response.on("close", () => pages.delete(response));
      void gauge();
    },
    stop(): void {
      clearInterval(timer);
      clearTimeout(gathering);
      unsubscribe();
    },
  };
}
