// The end of the demo: do the records and Stripe agree, to the cent?
import type { Harness } from "../harness/harness.ts";

type Answer = { done: boolean; agree: number; findings: number };
type Report = {
  balance: { inBalance: Record<string, { amount: number }>; differences: unknown[] };
};

/** Runs the reconciliation over all that was paid. `agrees`: it has nothing to report. */
export async function reconcile({ stack, functionNamed }: Harness): Promise<{
  line: string;
  agrees: boolean;
}> {
  // Until now: nothing is under way any more. Whole seconds count.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const result = await functionNamed("reconciliation").invoke({ now: true, delaySeconds: 0 });
  if (!result.ok) {
    return { line: `Reconciliation: it failed: ${result.errorMessage}`, agrees: false };
  }
  const { agree, findings } = JSON.parse(result.payload) as Answer;
  const [, report = "{}"] =
    [...stack.objects.objects].find(([key]) => key.includes("/reports/")) ?? [];
  const { balance } = JSON.parse(report) as Report;
  const sums = Object.entries(balance.inBalance).map(
    ([currency, { amount }]) => `${amount.toLocaleString("en-US")} ${currency}`,
  );
  const agrees = findings === 0 && balance.differences.length === 0;
  return {
    line: `Reconciliation: ${agree} records and PaymentIntents agree, ${findings} findings; recorded as paid and in Stripe's balance: ${sums.join(", ")}`,
    agrees,
  };
}
