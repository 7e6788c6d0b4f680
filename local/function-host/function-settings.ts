// What a Lambda function is configured with, and the environment its code sees.
import { dirname } from "node:path";

export type FunctionSettings = {
  /** Absolute path of the CommonJS file that exports `handler`. */
  bundle: string;
  functionName: string;
  functionArn: string;
  /** The function's timeout, ms. */
  timeoutMs: number;
  memoryMb: number;
  /** The function's own environment variables: nothing else of this process reaches the code. */
  env: Record<string, string>;
};

export type GivenSettings = Pick<FunctionSettings, "bundle" | "timeoutMs" | "env">;

/**
 * Fills in what a laptop has no say in: account and memory size. The name and the region are the
 * ones that `env` gives, as the code inside will see them.
 */
export function functionSettings(given: GivenSettings): FunctionSettings {
  const functionName = given.env["AWS_LAMBDA_FUNCTION_NAME"] ?? "payment-worker";
  const region = given.env["AWS_REGION"] ?? "us-east-1";
  return {
    ...given,
    functionName,
    functionArn: `arn:aws:lambda:${region}:000000000000:function:${functionName}`,
    memoryMb: 512,
  };
}

/**
 * The variables Lambda's Node 24 runtime defines, and the function's own.
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html#configuration-envvars-runtime
 */
export function environmentVariables(settings: FunctionSettings): Record<string, string> {
  const region = settings.env["AWS_REGION"] ?? "us-east-1";
  return {
    PATH: process.env["PATH"] ?? "/usr/bin:/bin",
    LANG: "en_US.UTF-8",
    TZ: ":UTC",
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x",
    AWS_LAMBDA_FUNCTION_NAME: settings.functionName,
    AWS_LAMBDA_FUNCTION_VERSION: "$LATEST",
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(settings.memoryMb),
    AWS_LAMBDA_INITIALIZATION_TYPE: "on-demand",
    AWS_LAMBDA_LOG_FORMAT: "JSON",
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${settings.functionName}`,
    LAMBDA_TASK_ROOT: dirname(settings.bundle),
    _HANDLER: "index.handler",
    ...settings.env,
  };
}
