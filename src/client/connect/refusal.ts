import { serviceWords } from '../../wire/foreign_text.js';
import { parseForeignJson } from '../verify/foreign_json.js';
import type { FetchResponse } from './platform.js';

/** The error for a connection, or for credentials, that the service refused. The message is the service's reason. */
export class RefusedConnection extends Error {
  constructor(
    /** The HTTP status. */
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** The HTTP status of a request above the service's rate limit. */
export const TOO_MANY_REQUESTS = 429;

/** Returns the milliseconds until the service allows another request; `undefined` when the response does not name this time. */
export function retryAfterMsOf({ headers }: Pick<FetchResponse, 'headers'>): number | undefined {
  const seconds = headers.get('retry-after');
  return seconds === null ? undefined : Number(seconds) * 1_000;
}

/** The reason why there is no connection. */
export interface ConnectFailure {
  readonly reason: string;
  /** The HTTP status of a refusal; `undefined` if the server did not refuse, or the socket does not report the status. */
  readonly status: number | undefined;
}

/** The fields that a socket reports about an error. Browsers report no fields. */
export interface ErrorEventLike {
  readonly message?: string;
  readonly error?: { readonly code?: string };
}

/** The message of the package `ws` about a refused upgrade. */
const REFUSED = /server response: (\d{3})/;

/**
 * The largest accepted message of a socket: a payload of 65,535 assets has 4 MiB. The package `ws` refuses a longer message. A browser's
 * socket has no such bound, so the client measures the characters of each message.
 */
export const MESSAGE_BYTES_MAX = 8 * 1024 ** 2;
export const MESSAGE_TOO_LONG = `a message has more than ${MESSAGE_BYTES_MAX} bytes`;
/** The code of the package `ws` for a message that is too long. */
const TOO_LONG_CODE = 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH';

/** Reads the error of a socket. */
export function failureOf({ message, error }: ErrorEventLike): ConnectFailure {
  if (error?.code === TOO_LONG_CODE) return { reason: MESSAGE_TOO_LONG, status: undefined };
  const reason = message || error?.code || 'the connection failed';
  if (error instanceof RefusedConnection) return { reason, status: error.status };
  const status = REFUSED.exec(reason)?.[1];
  return { reason, status: status === undefined ? undefined : Number(status) };
}

/** Returns the `error` of an error response's body as the service's words, if present. */
export function errorOf(text: string): string | undefined {
  try {
    const error = (parseForeignJson(text) as { error?: unknown } | null)?.error;
    return typeof error === 'string' ? serviceWords(error) : undefined;
  } catch {
    return undefined;
  }
}
