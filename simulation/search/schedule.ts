// Runs one schedule: picks a step, lets the workers' code run until it waits again, checks.

import { checkCreated, checkRequest } from "../checkers/charges.ts";
import { checkInProgress, checkRejected, isOdd } from "../checkers/deliveries.ts";
import { checkEnd } from "../checkers/liveness.ts";
import { checkAnswer, checkBooked, checkOrder, checkOrdersEnd } from "../checkers/orders.ts";
import { checkOutcomesEnd, checkPublished } from "../checkers/outcomes.ts";
import { checkWrite } from "../checkers/records.ts";
import { violate, Violation } from "../checkers/rules.ts";
import type { Rule } from "../checkers/rules.ts";
import type { Worker } from "../seeded-bugs/load-worker.ts";
import { acknowledge } from "../world/calls.ts";
import { checkDone } from "../world/consumers.ts";
import { createWorld } from "../world/create-world.ts";
import { createEnvironment } from "../world/environment.ts";
import type { ExecutionEnvironment, OnLine } from "../world/environment.ts";
import { paymentsOf } from "../world/invocation.ts";
import type { Invocation, Role } from "../world/invocation.ts";
import type { Scenario } from "../world/scenario.ts";
import { possibleSteps } from "../world/steps.ts";
import { TIMINGS } from "../world/timings.ts";
import { outcomesOf } from "../world/world.ts";
import type { Recorder, World } from "../world/world.ts";
import type { Chooser } from "./choices.ts";

export type Run = {
  steps: number;
  violation?: Violation;
  /** Another schedule has been in the same state: what follows is known. */
  merged?: true;
};

export type RunSettings = {
  scenario: Scenario;
  chooser: Chooser;
  recorder: Recorder;
  /** Every schedule is enumerated: details are fixed, and the end is not chosen. */
  exhaustive: boolean;
  /** Looks at one rule alone. */
  only?: Rule | undefined;
  /** Whether this state is known already; asked before every step that is chosen. */
  known?: (world: World, steps: number) => boolean;
  /** Longer schedules are given up as merged. */
  mostSteps?: number | undefined;
};

export type Runner = (settings: RunSettings) => Promise<Run>;

const CHECKS = {
  onCreate: checkCreated,
  onRequest: checkRequest,
  onWrite: checkWrite,
  onPublish: checkPublished,
  onOrder: checkOrder,
  onBooked: checkBooked,
};

/**
 * A record that no event can be made of, an event that is none, a contradiction, an effect without its
 * event: none is planned.
 */
const UNPLANNED: ReadonlySet<string> = new Set(["invalid", "contradiction", "bug"]);

const TOO_MANY_STEPS = 3_000;

const microtasks = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Runs schedules of one worker, one at a time. */
export function createRunner(worker: Worker): Runner {
  const idle = new Map<Role, ExecutionEnvironment[]>();
  const busy = new Map<ExecutionEnvironment, Role>();
  let world: World;
  let broken: Violation | undefined;
  performance.now = () => world.now;

  const onLine = (inWorld: World, invocation: Invocation, line: Record<string, unknown>): void => {
    if (invocation.role !== "worker") return onOtherLine(inWorld, invocation, line);
    const message = paymentsOf(invocation).find(
      (delivery) => delivery.message.sqsMessageId === line["sqsMessageId"],
    )?.message;
    if (!message) return;
    const what = branchOf(line);
    inWorld.logged.set(message, String(line["message"]));
    inWorld.recorder.count(what);
    inWorld.recorder.trace?.(invocation.name, `${message.sqsMessageId} ends: ${what}`);
    if (line["decision"] === "rejected") guard(() => checkRejected(inWorld, invocation, message));
    if (line["decision"] === "in_progress")
      guard(() => checkInProgress(inWorld, invocation, message));
    if (line["kind"] === "unexpected" && !isOdd(inWorld, message)) {
      guard(() => violate(inWorld, "planned", what));
    }
  };

  const onOtherLine: OnLine = (inWorld, { role, name, deliveries }, line) => {
    const { decision, kind, messageId, message: text = "" } = line as Record<string, string>;
    if (role === "door") return inWorld.recorder.trace?.(name, `answers ${text}`);
    const sqsMessageId = line["sqsMessageId"] as string | undefined;
    const [, effect] = /^the order is (\w+)/.exec(text) ?? [];
    const what = [decision, kind ?? effect].filter((part) => part !== undefined).join(": ");
    inWorld.recorder.count(`${role}: ${what}`);
    inWorld.recorder.trace?.(name, `${sqsMessageId ?? messageId} ends: ${what}`);
    const message = deliveries.find((one) => one.message.sqsMessageId === sqsMessageId)?.message;
    if (message && role === "finalizer") {
      const { decisions } = outcomesOf(inWorld);
      decisions.set(message, (decisions.get(message) ?? new Set()).add(decision ?? "none"));
    }
    if (decision === undefined && sqsMessageId === undefined) return; // a visibility timeout
    if (decision === undefined || kind === "unexpected" || UNPLANNED.has(decision)) {
      guard(() => violate(inWorld, "planned", what));
    }
  };

  const free = (environment: ExecutionEnvironment, role: Role): void => {
    busy.delete(environment);
    idle.set(role, [...(idle.get(role) ?? []), environment]);
  };

  const guard = (check: () => void): void => {
    try {
      check();
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      broken ??= error;
    }
  };

  const start = (inWorld: World, invocation: Invocation): void => {
    const { role } = invocation;
    const environment = idle.get(role)?.pop() ?? createEnvironment(role, worker, onLine);
    busy.set(environment, role);
    /** `failed` is undefined when the whole batch failed. */
    const ended = (failed: readonly string[] | undefined) => {
      free(environment, role);
      // Also of a function that was given up, whose answer nobody reads any more.
      guard(() => checkDone(inWorld, invocation, failed));
      guard(() => checkAnswer(inWorld, invocation));
      if (invocation.state === "running") acknowledge(inWorld, invocation, failed);
      if (invocation.state === "abandoned") invocation.state = "dead";
    };
    environment.invoke(inWorld, invocation).then(ended, (error: unknown) => {
      const { name, message } = error as Error;
      if (name === "Unavailable") inWorld.recorder.count("batch failed as a whole");
      else if (name === "NotPublished") inWorld.recorder.count("batch bisected");
      else guard(() => violate(inWorld, "planned", `${name}: ${message}`));
      ended(undefined);
    });
  };

  return async (settings) => {
    const { scenario, chooser, recorder, exhaustive, known, only } = settings;
    const { mostSteps = TOO_MANY_STEPS } = settings;
    const { choose } = chooser;
    const vary = exhaustive ? () => 0 : (options: number) => choose(Array(options).fill(1));
    world = createWorld(scenario, TIMINGS, choose, vary, recorder, CHECKS, only);
    broken = undefined;
    // What still waits in the last schedule's world waits for ever.
    for (const [environment, role] of busy) free(environment, role);
    let steps = 0;
    try {
      for (;;) {
        const open = world.received <= scenario.deliveries;
        if (!open) world.faultsLeft = 0;
        const possible = possibleSteps(world, start);
        if (possible.length === 0) break;
        if (steps >= mostSteps) {
          if (mostSteps < TOO_MANY_STEPS) return { steps, merged: true };
          violate(world, "ends", `not after ${steps} steps`);
          break;
        }
        if (known?.(world, steps)) return { steps, merged: true };
        const weights = possible.map(({ weight }) => weight);
        const index = possible.length === 1 || (exhaustive && !open) ? 0 : choose(weights);
        world.writer = undefined;
        possible[index]?.run();
        steps += 1;
        await microtasks();
        if (broken) throw broken;
      }
      checkEnd(world);
      if (world.outcomes) checkOutcomesEnd(world, world.outcomes);
      if (world.orders) checkOrdersEnd(world, world.orders);
      return { steps };
    } catch (error) {
      if (error instanceof Violation) return { steps, violation: error };
      throw error;
    }
  };
}

/** The branch of the protocol that a log line reports. */
function branchOf(line: Record<string, unknown>): string {
  const { decision, rule, kind, outcome, takeover, lookedUp } = line;
  const detail = rule ?? kind ?? outcome;
  return [
    String(decision),
    typeof detail === "string" && `: ${detail}`,
    takeover && ", after a takeover",
    lookedUp && ", after a lookup",
  ]
    .filter(Boolean)
    .join("");
}
