// Breaks a running stack on purpose, and ends it: what `npm run break` and the live page call.
import type { ArmedFault } from "../faults.ts";
import type { Stack } from "../stack.ts";
import type { On, Order } from "./order.ts";
import { ControlError, SWITCHES } from "./switches.ts";
import type { Where } from "./switches.ts";

export type Control = {
  /** What is on, the oldest first. */
  on: () => On[];
  /** @returns what was done, in a sentence. @throws ControlError that says what is wrong */
  start: (order: Order) => Promise<string>;
  /** Ends the switches of that name, and with that argument, or every one. Returns what was ended. */
  end: (name?: string, argument?: string) => On[];
};

type Started = { on: On; times: number; armed?: readonly ArmedFault[]; undo: () => void };

const LONGEST_MS = 24 * 60 * 60 * 1_000;

export function createControl(stack: Stack): Control {
  const processes = followProcesses(stack);
  let started: Started[] = [];

  const signal: Where["signal"] = (target, name) => {
    const pids = processes.has(Number(target))
      ? [Number(target)]
      : stack.functions.flatMap((one) =>
          target !== "" || one === stack.worker ? one.kill(target || undefined, name) : [],
        );
    if (processes.has(Number(target))) process.kill(Number(target), name);
    for (const pid of pids) {
      const of = processes.get(pid) ?? "";
      stack.feed.publish({ type: "environment signaled", function: of, pid, signal: name });
    }
    return pids;
  };

  function describe({ on, armed, times }: Started): On {
    if (!armed) return on;
    const happened = Math.max(...armed.map((fault) => fault.happened()));
    return { ...on, happened, ...(Number.isFinite(times) && { left: times - happened }) };
  }

  function on(): On[] {
    started = started.filter((one) => (describe(one).left ?? 1) > 0);
    return started.map(describe);
  }

  function changed(): void {
    stack.feed.publish({ type: "switched", on: on() });
  }

  function end(name?: string, argument?: string): On[] {
    const ended = started.filter(
      ({ on }) =>
        (name === undefined || on.name === name) &&
        (argument === undefined || on.argument === argument),
    );
    const described = ended.map(describe);
    started = started.filter((one) => !ended.includes(one));
    for (const one of ended) one.undo();
    if (ended.length > 0) changed();
    return described;
  }

  return {
    on,
    end,
    async start({ name, argument = "", times = Infinity, forMs }) {
      const found = Object.hasOwn(SWITCHES, name) ? SWITCHES[name] : undefined;
      if (!found)
        throw new ControlError(`"${name}" is not one of ${Object.keys(SWITCHES).join(", ")}.`);
      if (argument !== "" && found.argument === undefined)
        throw new ControlError(`${name} takes no argument.`);
      if (argument === "" && found.argument && !found.argument.startsWith("[")) {
        throw new ControlError(`${name} needs ${found.argument}, a message id.`);
      }
      if (forMs !== undefined && !(forMs > 0 && forMs <= LONGEST_MS)) {
        throw new ControlError("It can last from a moment to 24 h.");
      }
      if (Number.isFinite(times) && !(Number.isInteger(times) && times > 0 && "arm" in found)) {
        throw new ControlError(`${name} cannot happen ${times} times.`);
      }
      const at = { stack, signal };
      if ("act" in found) {
        if (forMs !== undefined) throw new ControlError(`${name} is done at once: it has no end.`);
        return found.act(at, argument);
      }
      const armed = "arm" in found ? [await found.arm(at, argument, times)].flat() : undefined;
      const undo =
        "set" in found ? found.set(at, argument) : () => armed?.forEach((one) => one.remove());
      const timer = forMs === undefined ? undefined : setTimeout(() => endOne(), forMs).unref();
      const sinceMs = Date.now();
      const one: Started = {
        on: {
          name,
          argument,
          does: found.does,
          sinceMs,
          ...(forMs !== undefined && { endsAtMs: sinceMs + forMs }),
        },
        times,
        ...(armed && { armed }),
        undo() {
          clearTimeout(timer);
          undo();
        },
      };
      const endOne = (): void => {
        started = started.filter((other) => other !== one);
        one.undo();
        changed();
      };
      started.push(one);
      changed();
      const limits = [
        ...(Number.isFinite(times) ? [`${times} time${times === 1 ? "" : "s"}`] : []),
        ...(forMs === undefined ? [] : [`for ${forMs / 1_000} s`]),
      ];
      return `${found.does} It ends ${limits.join(", or ") || found.ends}.`;
    },
  };
}

/** The processes of the stack's functions: no other may be signaled. */
function followProcesses({ feed }: Stack): ReadonlyMap<number, string> {
  const pids = new Map<number, string>();
  feed.subscribe((entry) => {
    if (entry.type === "environment started") pids.set(entry.pid, entry.function);
    if (entry.type === "environment ended") pids.delete(entry.pid);
  });
  return pids;
}
