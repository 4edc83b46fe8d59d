import { CLOSES } from '../wire/close_codes.js';
import { BAD_MESSAGES_MAX, ERROR_TYPE } from '../wire/stream.js';
import type { RequestError, StreamRequest } from './request.js';
import type { StreamSession } from './session.js';

/** Answers a message that is no request; closes a connection that sends too many of them. */
export function refuseBadMessage(session: StreamSession, error: RequestError): void {
  replyError(session, error);
  const { code, reason } = CLOSES.badMessages;
  if (++session.badMessages === BAD_MESSAGES_MAX) session.connection.close(code, reason);
}

/** Answers a request that cannot be done. */
export function replyError(session: StreamSession, { error, id }: RequestError): void {
  const idField = id === undefined ? '' : `,"id":${id}`;
  session.connection.send(`{"type":"${ERROR_TYPE}","error":${JSON.stringify(error)}${idField}}`);
}

/**
 * Answers a request that was done, if it has an ID.
 * @param assets the IDs of the whole set now
 * @param invalid the IDs of the request that are unknown
 */
export function replyDone(
  { connection }: StreamSession,
  { type, id }: StreamRequest,
  assets: readonly number[],
  invalid: readonly number[],
): void {
  if (id === undefined) return;
  connection.send(`{"type":"${type}","id":${id},"assets":[${assets.join()}],"invalid":[${invalid.join()}]}`);
}
