// Everything that a stack's feed carries.
import type { SourceEvent } from "./event-source/events.ts";
import type { FunctionEvent } from "./function-host/events.ts";

export type StackEvent = FunctionEvent | SourceEvent;
