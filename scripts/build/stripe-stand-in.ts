// In the bundle, this is each of Stripe's resources that the worker does not use: see leave-out.ts.

/** A constructor of objects that throw as soon as anything is read from them. */
export function standIn(resource: string) {
  const get = (): never => {
    throw new Error(
      `Stripe's ${resource} is left out of the bundle: see scripts/build/leave-out.ts.`,
    );
  };
  return function StandIn(): object {
    return new Proxy({}, { get });
  };
}
