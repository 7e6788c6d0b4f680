// Where stripe-node finds the bench's Stripe server; everything else is its default.

export function stripeOptions() {
  const { hostname, port } = new URL(process.env["STRIPE_API_BASE"] ?? "");
  return { protocol: "http" as const, host: hostname, port: Number(port) };
}
