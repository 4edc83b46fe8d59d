import type { TimeNs } from '../model/time.js';
import { CLOSES } from '../wire/close_codes.js';
import { BAD_MESSAGES_MAX } from '../wire/stream.js';
import type { ReaderSession } from './reader_session.js';
import { errorText, type RequestError } from './request.js';

/** A longer message past the limit is not read. */
export const FLOOD_LENGTH_MAX = 1_024;

/** Answers a message that is no request; closes a connection that sends too many of them. */
export function refuseBadMessage(session: ReaderSession, error: RequestError): void {
  replyError(session, error);
  countBadMessage(session);
}

/** Counts a message that is no request; closes a connection that sends too many of them. */
export function countBadMessage(session: ReaderSession): void {
  const { code, reason } = CLOSES.badMessages;
  if (++session.badMessages === BAD_MESSAGES_MAX) session.connection.close(code, reason);
}

/** Answers a request that cannot be done. */
export function replyError({ connection }: ReaderSession, error: RequestError): void {
  connection.send(errorText(error));
}

/** Counts a message of a client. @returns whether it is within the client's messages of this UNIX second */
export function takeControlMessage(session: ReaderSession, second: number, perSecond: number): boolean {
  if (second !== session.controlSecond) {
    session.controlSecond = second;
    session.controlMessagesLeft = perSecond;
  }
  return session.controlMessagesLeft-- > 0;
}

/** @param assets how many a request names. @returns whether the caller may change so many now */
export function takeSubscriptionChanges({ budgets }: ReaderSession, assets: number, nowNs: TimeNs): boolean {
  const { subscriptionChanges } = budgets;
  if (subscriptionChanges.take(assets, nowNs)) return true;
  subscriptionChanges.countRefusal();
  return false;
}

export function changesError(perSecondMax: number): string {
  return `more than subscription_changes_per_second (${perSecondMax}) assets in the token's requests of a second`;
}

export function floodError(perSecondMax: number): string {
  return `more than control_messages_per_second (${perSecondMax}) messages in a second`;
}

export function oversizeError(messageBytes: number, bytesMax: number): string {
  return `the message has ${messageBytes} bytes, client_message_bytes is ${bytesMax}`;
}

export function subscriptionsError(count: number, max: number): string {
  return `${count} subscriptions, subscriptions_per_connection is ${max}`;
}
