import { CLOSES } from '../wire/close_codes.js';
import { BAD_MESSAGES_MAX } from '../wire/stream.js';
import { errorText, type RequestError } from './request.js';
import type { StreamSession } from './session.js';

/** Answers a message that is no request; closes a connection that sends too many of them. */
export function refuseBadMessage(session: StreamSession, error: RequestError): void {
  replyError(session, error);
  const { code, reason } = CLOSES.badMessages;
  if (++session.badMessages === BAD_MESSAGES_MAX) session.connection.close(code, reason);
}

/** Answers a request that cannot be done. */
export function replyError({ connection }: StreamSession, error: RequestError): void {
  connection.send(errorText(error));
}

/** Counts a message of a client. @returns whether it is within the client's messages of this UNIX second */
export function takeControlMessage(session: StreamSession, second: number, perSecond: number): boolean {
  if (second !== session.controlSecond) {
    session.controlSecond = second;
    session.controlMessagesLeft = perSecond;
  }
  return session.controlMessagesLeft-- > 0;
}
