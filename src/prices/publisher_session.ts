import type { SignatureType } from '../model/asset.js';
import type { PublishRights } from './gate.js';
import type { ReadMessage } from './message.js';

/** A publisher's connection. The messages of a connection take effect in the order in which they were received. */
export interface PublisherSession {
  readonly type: SignatureType;
  readonly rights: PublishRights;
  /** True when the service answers a message only after the message's accepted updates are on disk. */
  readonly isDurable: boolean;
  /**
   * The messages that have not taken effect yet, in order. Such a message waits because its signatures or the signatures of an earlier
   * message are still being verified.
   */
  readonly unsettled: UnsettledMessage[];
  /**
   * True while the newest message with prices had a new update: one that the service had not accepted before. Everybody can send accepted
   * updates again, and so cannot prove to have the key.
   */
  isProven?: boolean;
}

/**
 * Returns whether somebody without the key may have opened the connection, with a login that was seen elsewhere. What such a connection
 * uses counts apart from what other connections of the key use.
 */
export function isUnproven({ rights, isProven = false }: PublisherSession): boolean {
  return rights.isRepeatable === true && !isProven;
}

/**
 * Records the outcome of a message in {@link PublisherSession.isProven}.
 * @returns true if the message had a new update
 */
export function noteOutcome(session: PublisherSession, outcome: PublishOutcome): boolean {
  if (outcome.ok && outcome.accepted.length + outcome.rejected.size === 0) return false;
  session.isProven = outcome.ok && (outcome.hasNew ?? outcome.accepted.length > 0);
  return session.isProven;
}

/** A message whose signatures are still being verified. */
export interface UnsettledMessage {
  /** Applies the updates of the message; `undefined` until the verdicts of the message have arrived. */
  settle: (() => void) | undefined;
}

/** The receiver of publishers' messages that have been read. */
export interface PublishReceiver {
  /**
   * Receives one message. Returns the outcome at once, unless the message must wait for its turn or for signatures on another
   * thread.
   */
  receive(session: PublisherSession, message: ReadMessage): PublishOutcome | Promise<PublishOutcome>;
  /** Called when the connection has closed. */
  closed?(session: PublisherSession): void;
}

/** The reason for the refusal of a message whose caller has too many waiting messages. */
export const TOO_MANY_WAIT = 'overloaded: too many messages wait for their turn';

/** The outcome of a publish message. */
export type PublishOutcome =
  | {
      readonly ok: true;
      readonly traceId: string | undefined;
      readonly accepted: readonly string[];
      /** False if the service had accepted all of these updates before. Known only for a connection with a login by signature. */
      readonly hasNew?: boolean;
      /** Reasons by symbol. */
      readonly rejected: ReadonlyMap<string, string>;
      /**
       * The UNIX second from which the service verifies the caller's signatures again; absent if the service did not stop verifying
       * them.
       */
      readonly verifiedFromS?: bigint;
      /** With `memory`, a power failure may lose the accepted updates of this durable session. */
      readonly durable?: 'memory';
    }
  | { readonly ok: false; readonly traceId: string | undefined; readonly error: string };

/**
 * Returns the outcome. For a durable session, resolves only after the accepted updates are on disk.
 * @param written resolves when all updates accepted so far are on disk; rejects while the disk fails
 */
export function whenDurable(
  { isDurable }: PublisherSession,
  outcome: PublishOutcome | Promise<PublishOutcome>,
  written: () => Promise<void>,
): PublishOutcome | Promise<PublishOutcome> {
  if (!isDurable) return outcome;
  return Promise.resolve(outcome).then((accepted) => {
    if (!accepted.ok || accepted.accepted.length === 0) return accepted;
    return written().then(
      () => accepted,
      (reason: Error) => ({
        ok: false,
        traceId: accepted.traceId,
        error: `accepted, but not on disk: ${reason.message}`,
      }),
    );
  });
}
