// What other services learn beside the outcome: that a payment was refunded or disputed. It changes no
// outcome, and so it has no revision.

/** A CloudEvent 1.0 in JSON. The same refund or dispute makes the same id. */
export type PaymentNotice = {
  specversion: "1.0";
  id: string;
  source: string;
  type: "payment.refunded" | "payment.disputed";
  subject: string;
  datacontenttype: "application/json";
  data: {
    messageId: string;
    paymentIntentId: string;
    /** All that was refunded so far, in Stripe's smallest unit of the currency. */
    amountRefunded?: number;
    currency?: string;
    disputeId?: string;
    phase?: "created" | "closed";
  };
};

type Payment = { messageId: string; paymentIntentId: string };

export function refundNotice(
  { messageId, ...refund }: Payment & { amountRefunded: number; currency: string },
  source: string,
): PaymentNotice {
  return {
    specversion: "1.0",
    id: `${messageId}:refunded:${refund.amountRefunded}`,
    source,
    type: "payment.refunded",
    subject: messageId,
    datacontenttype: "application/json",
    data: { messageId, ...refund },
  };
}

export function disputeNotice(
  { messageId, ...dispute }: Payment & { disputeId: string; phase: "created" | "closed" },
  source: string,
): PaymentNotice {
  return {
    specversion: "1.0",
    id: `${messageId}:disputed:${dispute.disputeId}:${dispute.phase}`,
    source,
    type: "payment.disputed",
    subject: messageId,
    datacontenttype: "application/json",
    data: { messageId, ...dispute },
  };
}
