import {
  ERROR_TYPE,
  PING_TYPE,
  PONG_TYPE,
  REQUEST_ID_LENGTH_MAX,
  REQUEST_TYPES,
  type RequestType,
  TAXONOMY_TYPE,
} from '../wire/stream.js';
import { type RequestId, readRequestId } from './request_id.js';

/** A change of what a client is sent on `/ws`. */
export interface StreamRequest {
  readonly type: RequestType;
  /** Integers, each once, in the order they came; which of them are assets is for the catalogue to say. */
  readonly assets: readonly number[];
  readonly ignoreInvalid: boolean;
  /** A request with an ID is answered. */
  readonly id: RequestId | undefined;
}

/** A client asks whether the connection still works. */
export interface PingRequest {
  readonly type: typeof PING_TYPE;
  readonly id: RequestId | undefined;
}

export interface RequestError {
  readonly error: string;
  readonly id: RequestId | undefined;
}

/** A request has one array and one object; `JSON.parse` takes 20 ms for thousands inside each other. */
const CONTAINERS_MAX = 64;

/** Reads one client message; the error names the field that is wrong. */
export function readRequest(text: string): StreamRequest | PingRequest | RequestError {
  const message = readMessage(text);
  if (typeof message === 'string') return { error: message, id: undefined };
  const { type, assets, id: sentId, ignore_invalid: ignoreInvalid } = message;
  const id = sentId === undefined ? undefined : readRequestId(sentId, text);
  if (id === undefined && sentId !== undefined) return { error: ID_FAULT, id };
  if (type === PING_TYPE) return { type, id };
  if (!isRequestType(type)) return { error: TYPE_FAULT, id };
  if (!Array.isArray(assets) || !assets.every(Number.isInteger))
    return { error: 'assets is not an array of integer asset IDs', id };
  if (ignoreInvalid !== undefined && typeof ignoreInvalid !== 'boolean')
    return { error: 'ignore_invalid is not true or false', id };
  return { type, assets: eachOnce(assets), ignoreInvalid: ignoreInvalid ?? false, id };
}

/** Ascending numbers, as most clients send them, need no set: it takes longer than to parse them. */
function eachOnce(numbers: readonly number[]): readonly number[] {
  for (let i = 1; i < numbers.length; i++) if (numbers[i - 1]! >= numbers[i]!) return [...new Set(numbers)];
  return numbers;
}

/** Reads the JSON object that a message is. @returns what is wrong where it is none */
export function readMessage(text: string): Readonly<Record<string, unknown>> | string {
  if (text.split(/[[{]/, CONTAINERS_MAX + 2).length > CONTAINERS_MAX + 1)
    return `the message holds more than ${CONTAINERS_MAX} objects and arrays`;
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return 'the message is not JSON';
  }
  return typeof message === 'object' && message !== null && !Array.isArray(message)
    ? (message as Record<string, unknown>)
    : 'the message is not a JSON object';
}

/** Tells a client that IDs of its assets changed. */
export const TAXONOMY_CHANGED = `{"type":"${TAXONOMY_TYPE}"}`;

/** The answer to a ping. */
export function pongText({ id }: PingRequest): string {
  return id === undefined ? `{"type":"${PONG_TYPE}"}` : `{"type":"${PONG_TYPE}","id":${id}}`;
}

/** The answer to a request with an ID: the whole set now, and what of the request is unknown. */
export function answerText(
  type: RequestType,
  id: RequestId,
  assets: readonly number[],
  invalid: readonly number[],
): string {
  return `{"type":"${type}","id":${id},"assets":[${assets.join()}],"invalid":${JSON.stringify(invalid)}}`;
}

/** @param about the message that it answers */
export function errorText(error: string, about: Pick<RequestError, 'id'> | undefined): string {
  const id = about?.id;
  return `{"type":"${ERROR_TYPE}","error":${JSON.stringify(error)}${id === undefined ? '' : `,"id":${id}`}}`;
}

const ID_FAULT = `id is not a number or a string of at most ${REQUEST_ID_LENGTH_MAX} characters`;
const TYPE_FAULT = `type is not ${[...REQUEST_TYPES, PING_TYPE].map((type) => `"${type}"`).join(' or ')}`;

export function isRequestType(type: unknown): type is RequestType {
  return (REQUEST_TYPES as readonly unknown[]).includes(type);
}
