// The parts of the SDKs that no function reaches: a cold start pays for every byte that is parsed.
// Whatever does not fit after an upgrade fails the build, and the suites run the result.

import { readFile } from "node:fs/promises";
import { join } from "node:path";

import type { BuildOptions, Plugin } from "esbuild";

const STUB = JSON.stringify(join(import.meta.dirname, "stripe-stand-in.ts"));

/** The esbuild options that leave the parts out. */
export const LEAVE_OUT = {
  alias: {
    // lib/aws/clients.ts gives every client its credentials: the chain of providers is never asked.
    "@aws-sdk/credential-provider-node": join(import.meta.dirname, "no-credential-providers.ts"),
  },
  // Imported when an operation streams events; none of ours does. It drags 600 modules into
  // wrappers, which esbuild cannot shake.
  external: ["@smithy/core/event-streams"],
  plugins: [stripeResources()],
} satisfies BuildOptions;

/**
 * Stripe's API is one class per file, and the client makes one of each. All but PaymentIntents and
 * BalanceTransactions become a stub that throws when it is used.
 */
function stripeResources(): Plugin {
  return {
    name: "stripe-resources",
    setup(build) {
      let kept = 0;
      let replaced = 0;
      const filter =
        /[\\/]stripe[\\/]esm[\\/](?:resources[\\/].+|StripeEventNotificationHandler)\.js$/;
      build.onLoad({ filter }, async ({ path }) => {
        if (/[\\/]esm[\\/]resources[\\/](?:PaymentIntents|BalanceTransactions)\.js$/.test(path)) {
          kept += 1;
          return undefined;
        }
        replaced += 1;
        const source = await readFile(path, "utf8");
        const classes = [...source.matchAll(/^export class (\w+)/gm)].map(([, name]) => name);
        // Any other export is missed by its importer, and esbuild says so.
        const stubs = classes.map((name) => `export const ${name} = stub("${name}");`);
        return { contents: [`import { stub } from ${STUB};`, ...stubs].join("\n") };
      });
      build.onEnd(({ errors }) => {
        if (kept === 2 || replaced === 0 || errors.length > 0) return undefined;
        const text =
          "stripe-node has moved PaymentIntents or BalanceTransactions: adapt scripts/build/leave-out.ts to it.";
        return { errors: [{ text }] };
      });
    },
  };
}
