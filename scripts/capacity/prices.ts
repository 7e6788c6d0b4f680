// AWS's list prices in us-east-1, in dollars, as of 29 November 2026: without free tiers, volume
// tiers, savings plans, data transfer and Stripe's own fees, which are far above all of them.

export const PRICES = {
  /** https://aws.amazon.com/lambda/pricing/ (arm64; init is billed like the rest) */
  lambdaMillionRequests: 0.2,
  lambdaGbSecond: 0.000_013_333_4,
  /** https://aws.amazon.com/dynamodb/pricing/on-demand/ (standard table; storage with its backup) */
  dynamoDbMillionWriteUnits: 0.625,
  dynamoDbGbMonth: 0.25 + 0.2,
  /** https://aws.amazon.com/sqs/pricing/ (standard queue) */
  sqsMillionRequests: 0.4,
  /** https://aws.amazon.com/cloudwatch/pricing/ (log ingestion) */
  logsGb: 0.5,
  /** https://aws.amazon.com/secrets-manager/pricing/ */
  secretsMillionCalls: 5,
} as const;
