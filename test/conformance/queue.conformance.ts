// The queue's scenarios against SQS as others imitate it.

import { describe } from "vitest";

import { conform, during } from "./conform.ts";
import { queueScenarios } from "./scenarios/queue.ts";
import { sqsApiScenarios } from "./scenarios/sqs-api.ts";
import { startElasticMq, startMinistack, startMoto } from "./servers/aws.ts";
import { sqsClient } from "./servers/clients.ts";
import { createQueues, queueSubject } from "./servers/queues.ts";

// Where they differ, AWS's API reference decides, and the local queue follows that.
const NO_REDRIVE = {
  queue: {
    "a redriven message has the same body, another id, and is counted from 1": "no redrive",
  },
  api: {
    "a queue that is nobody's dead-letter queue cannot be redriven": "no redrive",
    "a queue that does not exist cannot be redriven": "no redrive",
    "an empty dead-letter queue can be redriven": "no redrive",
  },
};
// API_DeleteMessage: "otherwise, the request succeeds, but the message will not be deleted".
const STALE_RECEIPT = { "deleting with the receipt of an earlier receive is no error": "an error" };
// API_ChangeMessageVisibility: "Values range: 0 to 43200".
const LONG_VISIBILITY = { "a visibility longer than twelve hours is refused": "taken" };

describe.each([
  {
    name: "moto",
    start: startMoto,
    queue: NO_REDRIVE.queue,
    api: {
      ...NO_REDRIVE.api,
      "a batch of more than ten changes of visibility is refused": "each fails by itself",
      "a batch without a change of visibility is refused": "taken",
      "a batch with an id twice is refused": "each fails by itself",
    },
  },
  {
    name: "ministack",
    start: startMinistack,
    queue: { ...NO_REDRIVE.queue, ...STALE_RECEIPT },
    api: { ...NO_REDRIVE.api, ...LONG_VISIBILITY },
  },
  {
    name: "ElasticMQ",
    start: startElasticMq,
    queue: {
      ...STALE_RECEIPT,
      // "All redriven messages are considered new messages with a new messageID and enqueueTime":
      // SQSDeveloperGuide/sqs-configure-dead-letter-queue-redrive.html
      "a redriven message has the same body, another id, and is counted from 1": "keeps the id",
    },
    api: {
      ...LONG_VISIBILITY,
      "a batch without a change of visibility is refused": "taken",
      "a queue that is nobody's dead-letter queue cannot be redriven": "never answers",
      "a queue that does not exist cannot be redriven": "answers QueueDoesNotExist",
    },
  },
])("$name", ({ start, queue, api }) => {
  const server = during(start);
  const queues = () => createQueues(sqsClient(server().url));
  conform(queueScenarios, async () => queueSubject(await queues()), queue);
  conform(sqsApiScenarios, queues, api);
});
