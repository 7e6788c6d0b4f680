// Everything that a stack's feed carries.
import type { On } from "./control/order.ts";
import type { SourceEvent } from "./event-source/events.ts";
import type { FunctionEvent } from "./function-host/events.ts";
import type { QueueEvent } from "./queue/server.ts";
import type { Charge, RequestRecord } from "./stripe/ledger.ts";
import type { Sending } from "./stripe/webhook-sender.ts";

/** A request is published when it is over; `dropped` when its connection was cut. */
type RequestEvent =
  | {
      type: "table request";
      operation: string;
      messageId: string | undefined;
      /** `ok`, the error's code, or `dropped`. */
      result: string;
    }
  | ({ type: "Stripe request"; result: string } & Pick<
      RequestRecord,
      "id" | "method" | "path" | "idempotencyKey" | "messageId" | "replayed" | "faults"
    >);

/** Items as plain values; `before` is absent for a new one, `after` for a deleted one. */
type RecordEvent = {
  type: "record changed";
  before: Record<string, unknown> | undefined;
  after: Record<string, unknown> | undefined;
};

/** A new item of the shop's table, as plain values. */
type OrderEvent = { type: "order added"; item: Record<string, unknown> };

/** `nth`: which charge of its message it is, from 1; 0 when it names none. */
type ChargeEvent = { type: "charged"; nth: number } & Charge;

/** An event that a bus took; `detail` is a CloudEvent, or one of Stripe's. */
type BusEvent = { type: "event published"; busId: string; detailType: string; detail: unknown };

/** One of Stripe's events that was sent to a webhook endpoint. */
type WebhookEvent = { type: "webhook sent"; eventType: string } & Omit<Sending, "type">;

/** A function answered over HTTP. */
type AnswerEvent = { type: "http answered"; function: string; status: number };

/** An alarm begins to fire, or has cleared. */
type AlarmEvent = { type: "alarm"; name: string; fires: boolean };

/** What is broken on purpose, whenever that changes. */
type SwitchEvent = { type: "switched"; on: On[] };

export type StackEvent =
  | FunctionEvent
  | SourceEvent
  | QueueEvent
  | RequestEvent
  | RecordEvent
  | OrderEvent
  | ChargeEvent
  | BusEvent
  | WebhookEvent
  | AnswerEvent
  | AlarmEvent
  | SwitchEvent;
