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

/** A change of a client's subscription on `/ws`. */
export interface StreamRequest {
  readonly type: RequestType;
  /** The integers of the message in their order, without repetitions. They may be unknown; the catalogue decides which are assets. */
  readonly assets: readonly number[];
  readonly ignoreInvalid: boolean;
  /** The ID of the request. Only a request with an ID is answered. */
  readonly id: RequestId | undefined;
}

/** A ping, by which a client tests the connection. */
export interface PingRequest {
  readonly type: typeof PING_TYPE;
  readonly id: RequestId | undefined;
}

export interface RequestError {
  readonly error: string;
  readonly id: RequestId | undefined;
}

/**
 * The largest number of arrays and objects in a message. A request has one array and one object. `JSON.parse` takes 20 ms for thousands of
 * nested arrays.
 */
const CONTAINERS_MAX = 64;

/** Reads a client's message. An error names the wrong field. */
export function readRequest(text: string): StreamRequest | PingRequest | RequestError {
  const message = readMessage(text);
  if (typeof message === 'string') return { error: message, id: undefined };
  const { type, assets, id: sentId, ignore_invalid: ignoreInvalid } = message;
  const id = sentId === undefined ? undefined : readRequestId(sentId, text);
  if (id === undefined && sentId !== undefined) return { error: ID_FAULT, id };
  if (type === PING_TYPE) return { type, id };
  if (!isRequestType(type)) return { error: TYPE_FAULT, id };
  if (!Array.isArray(assets) || !assets.every(Number.isInteger))
    return {
      error: 'assets is not an array of integer asset IDs: /v1/taxonomy has the ID of each symbol',
      id,
    };
  // Other messages ignore this field like any unknown field.
  if (type === 'subscribe' && ignoreInvalid !== undefined && typeof ignoreInvalid !== 'boolean')
    return { error: 'ignore_invalid is not true or false', id };
  return { type, assets: eachOnce(assets), ignoreInvalid: ignoreInvalid === true, id };
}

/**
 * Returns the numbers without repetitions. Ascending numbers, which most clients send, need no set; a set would take longer than parsing.
 */
function eachOnce(numbers: readonly number[]): readonly number[] {
  for (let i = 1; i < numbers.length; i++) if (numbers[i - 1]! >= numbers[i]!) return [...new Set(numbers)];
  return numbers;
}

/** Reads the JSON object of a message. @returns the error if the message is not a JSON object */
export function readMessage(text: string): Readonly<Record<string, unknown>> | string {
  if (text.split(/[[{]/, CONTAINERS_MAX + 2).length > CONTAINERS_MAX + 1)
    return `the message holds more than ${CONTAINERS_MAX} objects and arrays`;
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return 'the message is not JSON such as {"type":"subscribe","assets":[1]}';
  }
  return typeof message === 'object' && message !== null && !Array.isArray(message)
    ? (message as Record<string, unknown>)
    : 'the message is not a JSON object such as {"type":"subscribe","assets":[1]}';
}

/**
 * Returns the notice to a client that a reload changed its assets.
 * @param ended the last IDs of ended assets
 * @param returned the current IDs of returned assets, which are subscribed again
 */
export function taxonomyText(ended: readonly number[], returned: readonly number[]): string {
  const list = (name: string, ids: readonly number[]) =>
    ids.length === 0 ? '' : `,"${name}":[${ids.join()}]`;
  return `{"type":"${TAXONOMY_TYPE}"${list('ended', ended)}${list('returned', returned)}}`;
}

/** Returns the answer to a ping. */
export function pongText({ id }: PingRequest): string {
  return id === undefined ? `{"type":"${PONG_TYPE}"}` : `{"type":"${PONG_TYPE}","id":${id}}`;
}

/** Returns the answer to a request with an ID: all current subscriptions, and the unknown assets of the request. */
export function answerText(
  type: RequestType,
  id: RequestId,
  assets: readonly number[],
  invalid: readonly number[],
): string {
  return `{"type":"${type}","id":${id},"assets":[${assets.join()}],"invalid":${JSON.stringify(invalid)}}`;
}

/** Returns the text of an error. @param about the message that the error answers */
export function errorText(error: string, about: Pick<RequestError, 'id'> | undefined): string {
  const id = about?.id;
  return `{"type":"${ERROR_TYPE}","error":${JSON.stringify(error)}${id === undefined ? '' : `,"id":${id}`}}`;
}

const ID_FAULT = `id is not a number or a string of at most ${REQUEST_ID_LENGTH_MAX} characters`;
/** The error for an unknown `type`. */
export const TYPE_FAULT = `type is not ${[...REQUEST_TYPES, PING_TYPE].map((type) => `"${type}"`).join(' or ')}`;

export function isRequestType(type: unknown): type is RequestType {
  return (REQUEST_TYPES as readonly unknown[]).includes(type);
}
