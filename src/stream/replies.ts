import { CLOSES } from '../wire/close_codes.js';
import { BAD_MESSAGES_MAX, ERROR_TYPE } from '../wire/stream.js';
import type { RequestError } from './request.js';
import type { StreamSession } from './session.js';

/** Answers a message that is no request; closes a connection that sends too many of them. */
export function refuseBadMessage(session: StreamSession, error: RequestError): void {
  replyError(session, error);
  const { code, reason } = CLOSES.badMessages;
  if (++session.badMessages === BAD_MESSAGES_MAX) session.connection.close(code, reason);
}

/** Answers a request that cannot be done. */
export function replyError(session: StreamSession, { error, id }: RequestError): void {
  session.connection.send(JSON.stringify({ type: ERROR_TYPE, error, id }));
}
