// Where stripe-node finds the bench's Stripe server; everything else is its default.

export function stripeOptions() {
  const { protocol, hostname, port } = new URL(process.env["STRIPE_API_BASE"] ?? "");
  const scheme: "https" | "http" = protocol === "https:" ? "https" : "http";
  return { protocol: scheme, host: hostname, port: Number(port) };
}
