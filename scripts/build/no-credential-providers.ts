// In a bundle, this is @aws-sdk/credential-provider-node: see leave-out.ts.

/** The SDK asks for this when it is loaded, and calls what it returns when a client has no credentials. */
export function defaultProvider() {
  return (): never => {
    throw new Error(
      "This AWS client was made without credentials: make it in lib/aws/clients.ts, as the others are.",
    );
  };
}
