// Webhook endpoints: who hears of which events, and under which secret.
// https://docs.stripe.com/api/webhook_endpoints

import { randomBytes } from "node:crypto";

import { invalidRequest, resourceMissing } from "./errors.ts";
import type { Answer } from "./errors.ts";
import type { Params } from "./form.ts";
import { text, textHash, unknownParameter } from "./parameters.ts";
import { newId } from "./payment-intent.ts";

export type WebhookEndpoint = {
  id: string;
  object: "webhook_endpoint";
  api_version: null;
  created: number;
  enabled_events: string[];
  livemode: false;
  status: "enabled" | "disabled";
  url: string;
};

type Stored = { account: string; endpoint: WebhookEndpoint; secrets: string[] };

const KNOWN = { url: "string", enabled_events: "any", disabled: "string" } as const;

export function createWebhookEndpoints(now: () => number) {
  const stored = new Map<string, Stored>();

  function find(account: string, id: string): Stored | undefined {
    const found = stored.get(id);
    return found?.account === account ? found : undefined;
  }

  function add(account: string, url: string, enabled_events: string[]) {
    const endpoint: WebhookEndpoint = {
      id: newId("we_1"),
      object: "webhook_endpoint",
      api_version: null,
      created: Math.floor(now() / 1_000),
      enabled_events,
      livemode: false,
      status: "enabled",
      url,
    };
    const secret = newSecret();
    stored.set(endpoint.id, { account, endpoint, secrets: [secret] });
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
        return invalidRequest("Invalid URL: An explicit scheme (such as https) must be provided.", {
          param: "url",
          code: "url_invalid",
        });
      }
      if (events.length === 0) {
        return invalidRequest("Missing required param: enabled_events.", {
          param: "enabled_events",
          code: "parameter_missing",
        });
      }
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
      return {
        status: 200,
        body: { object: "list", data, has_more: false, url: "/v1/webhook_endpoints" },
      };
    },
    /**
     * Rolls the secret as the Dashboard does: events carry signatures of both until `expire`.
     * https://docs.stripe.com/webhooks#roll-endpoint-secrets
     */
    rollSecret(id: string): { secret: string; expire: () => void } {
      const found = stored.get(id);
      if (!found) throw new Error(`There is no webhook endpoint ${id}.`);
      const secret = newSecret();
      found.secrets = [...found.secrets.slice(-1), secret];
      return { secret, expire: () => void (found.secrets = [secret]) };
    },
    /** The endpoints that hear of events of this type. */
    of(account: string, type: string): readonly Pick<Stored, "endpoint" | "secrets">[] {
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

function newSecret(): string {
  return `whsec_${randomBytes(24).toString("base64url")}`;
}
