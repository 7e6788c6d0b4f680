// The banks of a soak: each debit arrives or bounces after a while.
import type { Stack } from "../../local/stack.ts";
import { pause } from "../harness/wait.ts";
import type { Chance } from "./chance.ts";

const BOUNCES = 0.25;
const LONGEST_MS = 4_000;

export type Bank = ReturnType<typeof startBank>;

/** Decides until `signal` aborts. */
export function startBank({ stripe }: Stack, chance: Chance, signal: AbortSignal) {
  const dueAt = new Map<string, number>();

  function decide(isDue: (id: string) => boolean): void {
    for (const { id, status } of stripe.paymentIntents()) {
      if (status !== "processing" || !isDue(id)) continue;
      dueAt.delete(id);
      stripe.step(id, chance.happens(BOUNCES) ? "fail" : "succeed");
    }
  }

  function isDue(id: string): boolean {
    const due = dueAt.get(id) ?? performance.now() + chance.between(0, LONGEST_MS);
    dueAt.set(id, due);
    return due <= performance.now();
  }

  async function run(): Promise<void> {
    while (await pause(200, signal)) decide(isDue);
  }

  /** `decideAll` decides about every debit that is still open. */
  return { decideAll: () => decide(() => true), ended: run() };
}
