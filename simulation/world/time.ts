// Time: it stands still until something happens by itself, and then it is then.

import { expire, finish, kill } from "./calls.ts";
import { LONGEST_FREEZE_MS } from "./faults.ts";
import type { Invocation, Start } from "./invocation.ts";
import { arrive, ask, askAgain } from "./orders.ts";
import { describeSend, START } from "./scenario.ts";
import { disturbed } from "./world.ts";
import type { World } from "./world.ts";

/** The frozen worker goes on. What it waited for too long has failed by now. */
export function thaw(world: World, invocation: Invocation): void {
  disturbed(world);
  world.recorder.trace?.(invocation.name, "thaws");
  invocation.frozenAt = undefined;
  for (const call of world.calls.filter(({ by }) => by === invocation)) {
    const late = call.waiting && call.timesOutAt <= world.now;
    if (late && (call.state === "slow" || call.state === "lost")) expire(world, call);
  }
}

/** When the next thing happens by itself: a timeout, a deadline, a delivery, a redrive. */
export function nextInstant(world: World): number {
  let next = Infinity;
  const at = (instant: number) => {
    if (instant < next) next = instant;
  };
  for (const call of world.calls) {
    if (call.waiting && call.by.frozenAt === undefined) at(call.timesOutAt);
    at(call.finishBy);
  }
  for (const { state, deadline, frozenAt } of world.invocations) {
    if (state === "running") at(deadline);
    if (frozenAt !== undefined) at(frozenAt + LONGEST_FREEZE_MS);
  }
  for (const queue of [world.queue, world.outcomes?.events, world.orders?.events]) {
    for (const { place, visibleAt } of queue?.messages ?? []) {
      if (place === "queue" && visibleAt > world.now) at(visibleAt);
    }
  }
  const [send] = world.sendsLeft;
  if (send) at(START + send.at);
  const [redrive] = world.redrivesLeft;
  if (redrive !== undefined) at(START + redrive);
  return next;
}

/** A request takes some time too, but never so long that something happens meanwhile. */
export function passSomeTime(world: World): void {
  const latencyMs = LATENCIES_MS[world.vary(LATENCIES_MS.length)] ?? 0;
  if (latencyMs === 0) return;
  world.now += Math.max(0, Math.min(latencyMs, nextInstant(world) - world.now - 1));
}

const LATENCIES_MS = [0, 0, 1, 300, 2_000, 18_000];

/** Lets time pass until the next thing that happens by itself. */
export function advance(world: World, instant: number, start: Start): void {
  world.now = Math.max(world.now, instant);
  for (const invocation of world.invocations) {
    const { state, deadline, frozenAt } = invocation;
    const frozen = frozenAt !== undefined;
    if (state === "running" && deadline <= world.now) {
      const what = frozen ? "is given up while frozen" : "is out of time";
      world.recorder.trace?.(invocation.name, what);
      if (!frozen) kill(world, invocation);
      else {
        invocation.state = "abandoned";
        askAgain(world, invocation);
      }
    }
    if (frozen && frozenAt + LONGEST_FREEZE_MS <= world.now) kill(world, invocation);
  }
  const due = world.calls.filter(({ timesOutAt, finishBy }) =>
    [timesOutAt, finishBy].some((at) => at <= world.now),
  );
  for (const call of due) {
    const awake = call.by.frozenAt === undefined;
    if (call.waiting && awake && call.timesOutAt <= world.now) expire(world, call);
    if (call.finishBy <= world.now) finish(world, call);
  }
  while (world.sendsLeft[0] && START + world.sendsLeft[0].at <= world.now) {
    const sent = world.sendsLeft.shift();
    if (!sent) break;
    if (world.orders?.settings.actors.includes("door")) {
      ask(world, sent, start);
      continue;
    }
    const { sqsMessageId } = world.queue.send(sent);
    world.recorder.trace?.("producer", `sends ${describeSend(sent)} as ${sqsMessageId}`);
  }
  while (world.redrivesLeft[0] !== undefined && START + world.redrivesLeft[0] <= world.now) {
    world.redrivesLeft.shift();
    world.recorder.trace?.("operator", "moves the dead-letter queue back");
    world.queue.redrive();
    for (const event of world.orders?.published.values() ?? []) {
      if (world.orders) arrive(world.orders, event);
    }
  }
}
