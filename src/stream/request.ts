/** What a client may send on `/ws`. */
export interface StreamRequest {
  readonly type: 'subscribe' | 'unsubscribe';
  /** Integers, each once, in the order of the message. They need not be IDs of assets. */
  readonly assets: readonly number[];
  readonly ignoreInvalid: boolean;
  /** A request with an ID is answered. */
  readonly id: RequestId | undefined;
}

export type RequestId = string | number;

export interface RequestError {
  readonly error: string;
  readonly id: RequestId | undefined;
}

/** The answer repeats the ID, so its length is bounded. */
export const ID_LENGTH_MAX = 256;

/** A request has one array and one object. `JSON.parse` takes 20 ms for thousands of nested ones. */
const CONTAINERS_MAX = 64;

/** Reads one client message; the error names the field that is wrong. */
export function readRequest(text: string): StreamRequest | RequestError {
  if (text.split(/[[{]/, CONTAINERS_MAX + 2).length > CONTAINERS_MAX + 1)
    return { error: `the message holds more than ${CONTAINERS_MAX} objects and arrays`, id: undefined };
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return { error: 'the message is not JSON', id: undefined };
  }
  if (typeof message !== 'object' || message === null || Array.isArray(message))
    return { error: 'the message is not a JSON object', id: undefined };
  const { type, assets, id, ignore_invalid: ignoreInvalid } = message as Record<string, unknown>;
  if (id !== undefined && !isRequestId(id))
    return { error: `id is not a number or a string of at most ${ID_LENGTH_MAX} characters`, id: undefined };
  if (type !== 'subscribe' && type !== 'unsubscribe')
    return { error: 'type is not "subscribe" or "unsubscribe"', id };
  if (!Array.isArray(assets) || !assets.every(Number.isInteger))
    return { error: 'assets is not an array of integer asset IDs', id };
  if (ignoreInvalid !== undefined && typeof ignoreInvalid !== 'boolean')
    return { error: 'ignore_invalid is not true or false', id };
  return { type, assets: [...new Set(assets as number[])], ignoreInvalid: ignoreInvalid ?? false, id };
}

function isRequestId(id: unknown): id is RequestId {
  return typeof id === 'number' || (typeof id === 'string' && id.length <= ID_LENGTH_MAX);
}
