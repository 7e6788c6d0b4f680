// A shop's client of the payment API: it gives up on a slow answer, and asks again with the same key.
import { setTimeout as sleep } from "node:timers/promises";

type Answer = { attempts: number; accepted: boolean };

const PAUSE_MS = 100;

/** Asks until the payment is accepted, at most `attempts` times. */
export async function payOverHttp(
  url: string,
  key: string,
  payment: object,
  { timeoutMs, attempts }: { timeoutMs: number; attempts: number },
): Promise<Answer> {
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const response = await fetch(`${url}/payments`, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": key },
      body: JSON.stringify(payment),
      signal: AbortSignal.timeout(timeoutMs),
    }).catch(() => undefined); // too slow, or cut
    await response?.body?.cancel();
    if (response?.status === 202) return { attempts: attempt, accepted: true };
    await sleep(PAUSE_MS);
  }
  return { attempts, accepted: false };
}
