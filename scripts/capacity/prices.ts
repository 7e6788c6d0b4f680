// AWS's list prices in us-east-1, in dollars, as of 30 November 2026: without free tiers, volume
// tiers, savings plans, data transfer and Stripe's own fees, which are far above all of them.

export const PRICES = {
  /** https://aws.amazon.com/lambda/pricing/ (arm64; init is billed like the rest) */
  lambdaMillionRequests: 0.2,
  lambdaGbSecond: 0.000_013_333_4,
  /** https://aws.amazon.com/dynamodb/pricing/on-demand/ (standard table; storage with its backup) */
  dynamoDbMillionWriteUnits: 0.625,
  dynamoDbMillionReadUnits: 0.125,
  dynamoDbGbMonth: 0.25 + 0.2,
  /** https://aws.amazon.com/sqs/pricing/ (standard queue) */
  sqsMillionRequests: 0.4,
  /** https://aws.amazon.com/cloudwatch/pricing/ (log ingestion) */
  logsGb: 0.5,
  /** https://aws.amazon.com/eventbridge/pricing/ (custom events up to 64 KB; delivery in the account is free) */
  busMillionEvents: 1,
  archiveGb: 0.1,
  archiveGbMonth: 0.023,
  /** https://aws.amazon.com/api-gateway/pricing/ (HTTP API, up to 512 KB) */
  httpApiMillionRequests: 1,
  /** https://aws.amazon.com/secrets-manager/pricing/ */
  secretsMillionCalls: 5,
} as const;
