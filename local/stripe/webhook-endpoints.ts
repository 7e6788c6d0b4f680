// Webhook endpoints: who hears of which events, and under which secret.
// https://docs.stripe.com/api/webhook_endpoints

import { randomBytes } from "node:crypto";

import { invalidRequest, resourceMissing } from "./errors.ts";
import type { Answer } from "./errors.ts";
import type { Params } from "./form.ts";
import { missing, text, textHash, unknownParameter } from "./parameters.ts";
import { newId } from "./payment-intent.ts";

type Stored = { account: string; endpoint: Endpoint; secret: string };
type Endpoint = ReturnType<typeof newEndpoint>;

const KNOWN = { url: "string", enabled_events: "any", disabled: "string" } as const;

export function createWebhookEndpoints(now: () => number) {
  const stored = new Map<string, Stored>();

  function find(account: string, id: string): Stored | undefined {
    const found = stored.get(id);
    return found?.account === account ? found : undefined;
  }

  function add(account: string, url: string, enabled_events: string[]) {
    const endpoint = newEndpoint(url, enabled_events, now());
    const secret = `whsec_${randomBytes(24).toString("base64url")}`;
    stored.set(endpoint.id, { account, endpoint, secret });
    return { endpoint, secret };
  }

  return {
    /** The answer is the only one that has the secret. */
    create(account: string, params: Params): Answer {
      const url = text(params, "url");
      const events = Object.values(textHash(params, "enabled_events"));
      const problem = unknownParameter(params, KNOWN);
      if (problem) return problem;
      if (url === undefined || !URL.canParse(url)) {
        const message = "Invalid URL: An explicit scheme (such as https) must be provided.";
        return invalidRequest(message, { param: "url", code: "url_invalid" });
      }
      if (events.length === 0) return missing("enabled_events");
      const { endpoint, secret } = add(account, url, events);
      return { status: 200, body: { ...endpoint, secret } };
    },
    /** As the Dashboard does it, for the account of local keys; answers with the secret. */
    register(account: string, url: string, enabled_events: readonly string[]): string {
      const { secret } = add(account, url, [...enabled_events]);
      return secret;
    },
    update(account: string, id: string, params: Params): Answer {
      const found = find(account, id);
      if (!found) return resourceMissing("webhook_endpoint", id, "webhook_endpoint", 404);
      const { endpoint } = found;
      const disabled = text(params, "disabled");
      endpoint.url = text(params, "url") ?? endpoint.url;
      if (disabled !== undefined) endpoint.status = disabled === "true" ? "disabled" : "enabled";
      return { status: 200, body: endpoint };
    },
    list(account: string): Answer {
      const data = [...stored.values()]
        .filter((one) => one.account === account)
        .map(({ endpoint }) => endpoint)
        .toReversed();
      const url = "/v1/webhook_endpoints";
      return { status: 200, body: { object: "list", data, has_more: false, url } };
    },
    /** The endpoints that hear of events of this type. */
    of(account: string, type: string): readonly Pick<Stored, "endpoint" | "secret">[] {
      return [...stored.values()].filter(
        (one) =>
          one.account === account &&
          one.endpoint.status === "enabled" &&
          one.endpoint.enabled_events.some((name) => name === "*" || name === type),
      );
    },
  };
}

export type WebhookEndpoints = ReturnType<typeof createWebhookEndpoints>;

const newEndpoint = (url: string, enabled_events: string[], nowMs: number) => ({
  id: newId("we_1"),
  object: "webhook_endpoint",
  api_version: null,
  created: Math.floor(nowMs / 1_000),
  enabled_events,
  livemode: false,
  status: "enabled" as "enabled" | "disabled",
  url,
});
