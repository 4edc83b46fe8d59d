import { RefusedError, UnreachableError } from '../index.js';

/** Plain sentences for the statuses of a refusal, without their full stops. */
const STATUS_TEXTS: ReadonlyMap<number, string> = new Map([
  [401, 'the access token is not accepted, or no longer'],
  [403, 'this access token does not cover it'],
  [429, 'too many requests with this access token or from this address'],
]);
/** Texts that browsers give for a request without an answer. */
const NO_ANSWER =
  /failed to fetch|networkerror|load failed|network connection|^the connection failed|aborted|closed with 10\d\d$/i;
const UNAVAILABLE = /^HTTP 5\d\d$/;

/** Writes the reason of an error in plain words, without the address and without the browser's own text. */
export function reasonText(error: Error): string {
  const reason = ownReason(error);
  if (error instanceof RefusedError) return STATUS_TEXTS.get(error.status) ?? reason;
  return plainReason(reason);
}

/** Writes the reason of a lost connection, or of a request without an answer, in plain words. */
export function plainReason(reason: string): string {
  if (NO_ANSWER.test(reason)) return 'nothing answers at its address';
  if (UNAVAILABLE.test(reason)) return 'it is starting, overloaded or being changed';
  return reason;
}

/** Removes the address at the start of the client's error messages. */
function ownReason(error: Error): string {
  if (!(error instanceof RefusedError || error instanceof UnreachableError)) return error.message;
  return error.message.slice(error.url.length).replace(/^\S*: /, '');
}
