// Where a worker can die: every request of the protocol, and its own start.
import type { Moment as RequestMoment, Request } from "../harness/at-request.ts";

/** A moment in a delivery: its process is there and has not loaded the worker, or a request of it. */
export type Moment = "process started" | RequestMoment;

/** What Stripe does to the message's first request, where that is not to charge and answer so. */
export type FirstAnswer = "key in use" | "charged, and 500 for ever";

type Point = {
  where: string;
  /** The first request that goes wrong. */
  firstAnswer?: FirstAnswer;
  /** The delivery that dies is the one after it, a takeover; the first one otherwise. */
  takesOver?: true;
  /** Stripe is not trusted to know the key any more: the takeover looks up. */
  keyWindowOver?: true;
  /** The process is new; otherwise it has handled a message before. */
  coldStart?: true;
  /** What comes right before it in the same delivery. */
  previous: Moment;
  /** Before the request is applied, and after it is. */
  moments: { before: Moment; after: Moment };
};

const CLAIM: Request = { to: "table", operation: "PutItem" };
const TAKE_OVER: Request = { to: "table", operation: "UpdateItem", sets: "#owner = " };
const COMPLETE: Request = { to: "table", operation: "UpdateItem", sets: "outcome = " };
const RELEASE: Request = { to: "table", operation: "UpdateItem", sets: "lastError = " };
const CREATE: Request = { to: "stripe", method: "POST" };
const LOOK_UP: Request = { to: "stripe", method: "GET" };
const VISIBILITY: Request = { to: "queue", operation: "ChangeMessageVisibilityBatch" };
const DELETE: Request = { to: "queue", operation: "DeleteMessageBatch" };

const before = (request: Request): Moment => ({ request, side: "before" });
const after = (request: Request): Moment => ({ request, side: "after" });
const point = (
  where: string,
  previous: Moment,
  request: Request,
  more: Partial<Point> = {},
): Point => ({
  where,
  previous,
  moments: { before: before(request), after: after(request) },
  ...more,
});

const RETRIED = { firstAnswer: "key in use" } as const;
const TAKEN_OVER = { ...RETRIED, takesOver: true } as const;
const LOOKED_UP = { ...TAKEN_OVER, keyWindowOver: true } as const;

const POINTS: readonly Point[] = [
  {
    where: "cold start",
    coldStart: true,
    previous: "process started",
    // Applied means loaded here: the first sign of it is the worker's first request.
    moments: { before: "process started", after: before(CLAIM) },
  },
  point("claim put", "process started", CLAIM),
  point("Stripe create", after(CLAIM), CREATE),
  point("complete update", after(CREATE), COMPLETE),
  point("delete", after(COMPLETE), DELETE),
  point("release update", before(CREATE), RELEASE, RETRIED),
  point("visibility change", after(RELEASE), VISIBILITY, RETRIED),
  point("takeover update", after(CLAIM), TAKE_OVER, TAKEN_OVER),
  point("lookup, no charge", after(TAKE_OVER), LOOK_UP, LOOKED_UP),
  point("lookup, a charge", after(TAKE_OVER), LOOK_UP, {
    ...LOOKED_UP,
    firstAnswer: "charged, and 500 for ever",
  }),
];

/**
 * When the second delivery comes, seen from the one that dies:
 *
 * before: between its request before the point and the point; at Stripe, it waits until the first is dead
 * during: while the point's request is on its way; it ends before the first is dead
 * after:  as soon as the first is dead, under its lease
 * later:  when the visibility timeout ends
 */
const OVERLAPS = ["before", "during", "after", "later"] as const;

export type Row = {
  point: Point;
  side: "before" | "after";
  secondDelivery: (typeof OVERLAPS)[number];
};

/** Every point, before and after it, at every overlap. */
export const ROWS: readonly Row[] = POINTS.flatMap((point) =>
  (["before", "after"] as const).flatMap((side) =>
    OVERLAPS.map((secondDelivery) => ({ point, side, secondDelivery })),
  ),
);
