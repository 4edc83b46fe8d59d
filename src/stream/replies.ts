import type { RequestError } from './request.js';
import type { StreamSession } from './session.js';

const BAD_MESSAGES_MAX = 10;

/** Answers a message that is no request; closes a connection that sends too many of them. */
export function refuseBadMessage(session: StreamSession, error: RequestError): void {
  replyError(session, error);
  if (++session.badMessages === BAD_MESSAGES_MAX) session.connection.close(1008, 'too many bad messages');
}

/** Answers a request that cannot be done. */
export function replyError(session: StreamSession, { error, id }: RequestError): void {
  session.connection.send(JSON.stringify({ type: 'error', error, id }));
}
