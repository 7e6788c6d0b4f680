// What an operator does during a soak: redrives the dead-letter queue.
import { ListMessageMoveTasksCommand, StartMessageMoveTaskCommand } from "@aws-sdk/client-sqs";
import type { SQSClient } from "@aws-sdk/client-sqs";

/**
 * Moves everything from the dead-letter queue back to where it was sent. Resolves with how many
 * messages were moved, when the move is over.
 */
export async function redrive(sqs: SQSClient, dlqArn: string): Promise<number> {
  await sqs.send(new StartMessageMoveTaskCommand({ SourceArn: dlqArn }));
  for (;;) {
    const { Results: [newest] = [] } = await sqs.send(
      new ListMessageMoveTasksCommand({ SourceArn: dlqArn, MaxResults: 1 }),
    );
    if (newest?.Status !== "RUNNING") return newest?.ApproximateNumberOfMessagesMoved ?? 0;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
