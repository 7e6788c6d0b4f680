// In a bundle, this is each of Stripe's resources that no function uses: see leave-out.ts.

/** A constructor of objects that throw as soon as anything is read from them. */
export function stub(resource: string) {
  const get = (): never => {
    throw new Error(
      `Stripe's ${resource} is left out of the bundle: see scripts/build/leave-out.ts.`,
    );
  };
  return function Stub(): object {
    return new Proxy({}, { get });
  };
}
