import { TRACE_ID_LENGTH_MAX } from '../wire/publish_message.js';
import { ERROR_TYPE, PING_TYPE, type RequestType } from '../wire/stream.js';
import { isRequestType, type PingRequest, readMessage, readRequest, TYPE_FAULT } from './request.js';

/** A message that a client may send on `/evm/subscribe` and `/stark/subscribe`. */
export interface AggregateSubscription {
  readonly type: RequestType;
  /** The symbols in the order of the message, without repetitions. They may name no asset; the catalogue decides. */
  readonly symbols: readonly string[];
  /** The ID that the answer repeats. */
  readonly traceId: string | undefined;
}

/** A request. A ping has the same form as on `/ws`. */
export type AggregateRequest = AggregateSubscription | (PingRequest & Pick<AggregateSubscription, 'traceId'>);

export interface AggregateRequestError {
  readonly error: string;
  readonly traceId: string | undefined;
}

/** Reads a client's message. An error names the wrong field. */
export function readAggregateRequest(
  text: string,
  traceIdLengthMax = TRACE_ID_LENGTH_MAX,
): AggregateRequest | AggregateRequestError {
  const message = readMessage(text);
  if (typeof message === 'string') return { error: message, traceId: undefined };
  const { type, data, trace_id: sent } = message;
  if (!isTraceId(sent, traceIdLengthMax))
    return {
      error: `trace_id is not a string of at most ${traceIdLengthMax} characters`,
      traceId: undefined,
    };
  const traceId = sent ?? undefined;
  if (type === PING_TYPE) {
    const ping = readRequest(text);
    return 'error' in ping ? { error: ping.error, traceId } : { ...(ping as PingRequest), traceId };
  }
  if (!isRequestType(type)) return { error: TYPE_FAULT, traceId };
  if (!Array.isArray(data) || !data.every((symbol) => typeof symbol === 'string'))
    return { error: 'data is not an array of symbols such as ["BTCUSD"]: /v1/taxonomy lists them', traceId };
  return { type, symbols: [...new Set<string>(data)], traceId };
}

/**
 * Returns the text of an error. The text has no `data`, because clients recognise prices by `data`.
 * @param about the message that the error answers
 */
export function aggregateErrorText(
  error: string,
  about: Pick<AggregateRequestError, 'traceId'> | undefined,
): string {
  return JSON.stringify({ type: ERROR_TYPE, trace_id: about?.traceId, error });
}

function isTraceId(value: unknown, lengthMax: number): value is string | null | undefined {
  return value === undefined || value === null || (typeof value === 'string' && value.length <= lengthMax);
}
