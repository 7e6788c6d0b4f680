// The names of the metrics that functions write into their logs, and that infra/ reads.

export const METRICS_NAMESPACE = "PaymentWorker";

export type MetricName =
  // How a delivery ended
  | "Succeeded"
  | "Processing"
  | "RequiresAction"
  | "Declined"
  | "Failed"
  | "Canceled"
  | "Duplicate"
  | "InProgress"
  | "Conflict"
  | "Invalid"
  | "Rejected"
  | "TransientFailure"
  | "LeaseLost"
  | "NotStarted"
  // What happened on the way
  | "Takeover"
  | "Lookup"
  | "FailedReceive"
  | "ConfigurationError"
  | "ClaimToComplete"
  // What became of a payment later
  | "Advanced"
  | "Foreign"
  | "Unmatched"
  | "DoubleCharge"
  | "Contradiction"
  | "Refunded"
  | "Disputed"
  // What came to the door
  | "Accepted"
  | "NotAccepted"
  | "Unavailable"
  // What came to the webhook
  | "WebhookAccepted"
  | "WebhookInvalid"
  | "WebhookFailed"
  // What a reconciliation found
  | "Reconciled"
  | "ReconciliationFinding"
  | "SumsDiffer"
  | "OpenTooLong"
  // What became of an order
  | "Fulfilled"
  // What became of an outcome event
  | "Published"
  | "PublishFailed";

/** A field of the log line by which a metric is split, beside its total. */
export type MetricDimension = "rule" | "kind";
