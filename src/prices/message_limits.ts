import { hasAtMost } from '../model/text.js';

/** The limits of a publish message that the operator can set. */
export interface MessageLimits {
  /** The largest number of updates. */
  readonly updatesMax: number;
  /** The largest number of characters of `trace_id`. */
  readonly traceIdLengthMax: number;
}

/** The trace ID of a message, or the fault of a message's `trace_id`. */
export interface TraceId {
  readonly trace: string | undefined;
  readonly fault?: string;
}

/** Reads the value of `trace_id`. */
export function readTraceId(value: unknown, lengthMax: number): TraceId {
  if (value === undefined || value === null) return { trace: undefined };
  if (typeof value !== 'string') return { trace: undefined, fault: 'trace_id is not a string' };
  if (hasAtMost(lengthMax, value)) return { trace: value };
  return { trace: undefined, fault: `trace_id is longer than ${lengthMax} characters` };
}
