// The same job with Powertools for AWS Lambda, as its documentation has it.

import { createHandler } from "./powertools-handler.ts";

export const handler = createHandler();
