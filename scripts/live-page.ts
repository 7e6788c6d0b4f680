// The live page of a local stack: what its servers hold, in the words of the payments command, and what
// can be broken.
import type { Alarms } from "../local/alarms/alarms.ts";
import { createControl } from "../local/control/control.ts";
import { startPage } from "../local/page/server.ts";
import type { Page } from "../local/page/server.ts";
import type { Stack } from "../local/stack.ts";
import { createLetters, explain } from "./live-message.ts";

type Options = {
  port?: number | undefined;
  /** Whether the commands find this stack: the page names those that do the same. */
  commands: boolean;
  alarms?: Alarms["states"];
};

/** @throws when no port is free */
export function openLivePage(stack: Stack, { port, commands, alarms }: Options): Promise<Page> {
  const { queue, functions } = stack;
  const names = functions.length > 1 ? ["payments", "stripe-events", "orders"] : ["payments"];
  const letters = createLetters(stack);
  return startPage(stack.feed, {
    ...(port !== undefined && { port }),
    queues: names,
    messages: (name) => queue.messages(`${queue.url}/000000000000/${name}`),
    reasonOf: async (message, name) =>
      name === "payments" ? (await letters.of(message)).code : `not processed by ${name}`,
    control: createControl(stack),
    commands,
    ...(alarms && { alarms }),
    explain: (id) => explain(stack, letters, id),
  });
}
