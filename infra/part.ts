// What every part around a payment worker takes over from it, so that it is set once.

import type { FunctionProps } from "./lambda-function.ts";
import type { PaymentWorker } from "./payment-worker.ts";

type Settings = Pick<FunctionProps, "removalPolicy" | "encryptionKey" | "network" | "logRetention">;

/** What a function of the part, its queues and its log are made with. */
export function settingsOf({ settings }: PaymentWorker): Settings {
  const { removalPolicy, encryptionKey, network, logRetention } = settings;
  return {
    removalPolicy,
    ...(encryptionKey && { encryptionKey }),
    ...(network && { network }),
    ...(logRetention !== undefined && { logRetention }),
  };
}

/** Whether concurrency is reserved for the functions of the service. */
export const reserves = ({ settings }: PaymentWorker): boolean =>
  settings.reserveConcurrency ?? true;
