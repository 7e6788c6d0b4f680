// What the worker does with each sample event, as events/README.md says.

/** The one message id that is charged, and what the worker answers as failed. */
export const SAMPLES: Readonly<Record<string, { id: string; failed: string[] }>> = {
  "payment.json": { id: "order-1001", failed: [] },
  "cloudevents.json": { id: "order-1002", failed: [] },
  "babelqueue.json": { id: "f1e2d3c4-b5a6-4789-90ab-cdef01234567", failed: [] },
  "eventbridge.json": { id: "order-1004", failed: [] },
  "sns.json": { id: "order-1005", failed: [] },
  "duplicate.json": { id: "order-1006", failed: [] },
  "malformed.json": { id: "order-1007", failed: ["059f36b4-87a3-44ab-83d2-661975830002"] },
};

export const answerTo = (failed: readonly string[]) => ({
  batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })),
});
