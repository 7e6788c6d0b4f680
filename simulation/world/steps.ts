// What can happen next, in a fixed order: option 0 is the fault-free step.

import { answer, expire, finish } from "./calls.ts";
import { consumerOf, deliver } from "./consumers.ts";
import { DELIVERED_TWICE, FAULTS } from "./faults.ts";
import type { Call, Role, Start } from "./invocation.ts";
import { eventFaults, orderFaults, outcomeSteps, sweepStep } from "./outcome-steps.ts";
import { receiveSteps } from "./queue-steps.ts";
import type { Step } from "./queue-steps.ts";
import { advance, nextInstant, passSomeTime, thaw } from "./time.ts";
import { disturbed } from "./world.ts";
import type { World } from "./world.ts";

/** Every step that is possible now; none at the end. */
export function possibleSteps(world: World, start: Start): Step[] {
  const steps: Step[] = [];
  let busy = false;
  for (const call of world.calls) {
    const awake = call.by.frozenAt === undefined && call.by.state !== "dead";
    const ready = call.state === "sent" || call.state === "answered";
    if (!(awake && call.waiting && ready)) continue;
    busy = true;
    const run = () => {
      passSomeTime(world);
      answer(world, call);
    };
    steps.push({ weight: 10, run });
    // It thawed after its time: whether the reply or the timer comes first is chance.
    if (call.timesOutAt <= world.now) steps.push({ weight: 10, run: () => expire(world, call) });
  }
  for (const invocation of world.invocations) {
    if (invocation.frozenAt === undefined) continue;
    steps.push({ weight: 2, run: () => thaw(world, invocation) });
  }
  for (const call of world.calls) {
    if (call.state === "slow") steps.push({ weight: 2, run: () => finish(world, call) });
  }
  /** Adds what can be received, and answers since when that has waited. */
  const receives = (role: Role): number => {
    const deliveries = receiveSteps(world, role, start);
    steps.push(...deliveries);
    const visible = deliveries.length > 0 ? consumerOf(role).queue(world).receivable() : [];
    return Math.min(...visible.map(({ visibleAt }) => visibleAt));
  };
  const workerSince = receives("worker");
  if (world.outcomes) outcomeSteps(world, world.outcomes, start, steps);
  const waitingSince = Math.min(workerSince, world.orders ? receives("fulfillment") : Infinity);
  const next = busy ? Infinity : nextInstant(world);
  const inTime = next < waitingSince + world.scenario.longestBacklogMs;
  if (next < Infinity && inTime) steps.push({ weight: 3, run: () => advance(world, next, start) });
  if (world.faultsLeft > 0) faults(world, start, steps);
  const sweep = steps.length === 0 && sweepStep(world);
  return sweep ? [sweep] : steps;
}

function faults(world: World, start: Start, steps: Step[]): void {
  const first = steps.length;
  const ordinary = steps.reduce((sum, { weight }) => sum + weight, 0);
  const push = (name: string, run: () => void, call?: Call) =>
    steps.push({
      weight: (call && RARE[call.name]) ?? 1,
      run() {
        world.faultsLeft -= 1;
        const what = call ? `${name} (${call.name})` : name;
        world.recorder.count(what);
        world.recorder.trace?.("fault", what);
        run();
        disturbed(world);
      },
    });

  for (const call of world.calls) {
    if (call.state !== "sent" || call.by.frozenAt !== undefined || !call.waiting) continue;
    for (const fault of FAULTS) {
      const hits = fault.services.includes(call.service) && (fault.only ?? call.name) === call.name;
      if (hits && (fault.possible?.(world, call) ?? true))
        push(fault.name, () => fault.inject(world, call), call);
    }
  }
  for (const message of world.queue.messages) {
    if (message.place !== "queue" || message.visibleAt <= world.now) continue;
    const worked = world.invocations.some(
      ({ state, deliveries }) =>
        state === "running" && deliveries.some((delivery) => delivery.message === message),
    );
    const [slot] = consumerOf("worker").slots(world);
    if (worked && slot !== undefined) {
      push(DELIVERED_TWICE, () => deliver(world, start, { role: "worker", slot }, [message]));
    }
  }
  if (world.outcomes) eventFaults(world, world.outcomes, start, push);
  if (world.orders) orderFaults(world, world.orders, start, push);
  const injected = steps.slice(first);
  for (const step of injected)
    step.weight *= ordinary / (world.scenario.stepsPerFault - 1) / injected.length;
}

/** Requests that few schedules come to are injected more often. */
const RARE: Readonly<Record<string, number>> = {
  "look up": 12,
  "take over": 4,
  release: 4,
  charge: 2,
  complete: 2,
  publish: 8,
  checkpoint: 4,
  retrieve: 8,
  advance: 12,
  accept: 4,
  send: 4,
  answer: 2,
  transact: 2,
};
