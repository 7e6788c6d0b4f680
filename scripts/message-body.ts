// Writes a payment message in each shape that the worker reads, as its real producer would.
import { randomUUID } from "node:crypto";

export const SHAPES = ["plain", "cloudevents", "babelqueue", "eventbridge", "sns"] as const;
export type Shape = (typeof SHAPES)[number];

/** One operation as its sender minted it. */
export type Operation = {
  /** The message id. */
  id: string;
  sentAt: Date;
  /** Minor units of the currency: ¥80 is 80. */
  amount: number;
  currency: string;
  customer: string;
  paymentMethod: string;
};

/** The body for SQS. What a broker adds is fresh in each call; the operation inside is the same. */
export function messageBody(shape: Shape, operation: Operation): string {
  const { id, sentAt, amount, currency, customer, paymentMethod } = operation;
  const payment = { amount, currency, customer, paymentMethod };
  const plain = { id, createdAt: sentAt.toISOString(), ...payment };
  const now = new Date().toISOString();
  switch (shape) {
    case "plain":
      return JSON.stringify(plain);
    case "cloudevents":
      return JSON.stringify({
        specversion: "1.0",
        type: "com.example.payment.requested",
        source: "/orders",
        id,
        time: sentAt.toISOString(),
        datacontenttype: "application/json",
        data: payment,
      });
    case "babelqueue":
      return JSON.stringify({
        job: "urn:babel:payments:requested",
        trace_id: randomUUID(),
        data: payment,
        meta: {
          id,
          queue: "payments",
          lang: "node",
          schema_version: 1,
          created_at: sentAt.getTime(),
        },
        attempts: 0,
      });
    // https://docs.aws.amazon.com/eventbridge/latest/ref/overiew-event-structure.html
    case "eventbridge":
      return JSON.stringify({
        version: "0",
        id: randomUUID(),
        "detail-type": "PaymentRequested",
        source: "com.example.orders",
        account: "000000000000",
        time: now,
        region: "us-east-1",
        resources: [],
        detail: plain,
      });
    // https://docs.aws.amazon.com/sns/latest/dg/sns-message-and-json-formats.html
    case "sns":
      return JSON.stringify({
        Type: "Notification",
        MessageId: randomUUID(),
        TopicArn: "arn:aws:sns:us-east-1:000000000000:payments",
        Message: JSON.stringify(plain),
        Timestamp: now,
        SignatureVersion: "1",
        Signature: "local",
        SigningCertURL: "https://sns.us-east-1.amazonaws.com/local.pem",
        UnsubscribeURL: "https://sns.us-east-1.amazonaws.com/?Action=Unsubscribe",
      });
  }
}
