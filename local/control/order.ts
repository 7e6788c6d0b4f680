// What a person asks the control for, and what is on.
export type Order = {
  name: string;
  /** What its switch takes; empty for none. */
  argument?: string;
  /** How many requests it happens to. Until it is ended, when absent. */
  times?: number | undefined;
  /** When it ends by itself. */
  forMs?: number | undefined;
};

/** A switch that is on. */
export type On = {
  name: string;
  argument: string;
  does: string;
  sinceMs: number;
  endsAtMs?: number;
  /** How often it has happened, and how often it still can; absent for one that is not counted. */
  happened?: number;
  left?: number;
};
