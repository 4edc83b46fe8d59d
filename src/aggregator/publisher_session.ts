import type { PublishRights } from '../ingest/gate.js';
import type { ReadMessage } from '../ingest/message.js';
import type { SignatureType } from '../model/asset.js';

/** A publisher connection: its messages take effect in the order they came. */
export interface PublisherSession {
  readonly type: SignatureType;
  readonly rights: PublishRights;
  /** True when a message is answered only after its accepted updates are on disk. */
  readonly isDurable: boolean;
  /** The messages that have not taken effect because signatures of them or of an earlier message are being verified; in order. */
  readonly unsettled: UnsettledMessage[];
}

/** A message whose signatures are still being verified. */
export interface UnsettledMessage {
  /** Lets its updates take effect; `undefined` until its verdicts are there. */
  settle: (() => void) | undefined;
}

/** The receiver of publishers' messages that have been read. */
export interface PublishReceiver {
  /** Receives one message. Answers at once unless the message had to wait for its turn or for signatures on another thread. */
  receive(session: PublisherSession, message: ReadMessage): PublishOutcome | Promise<PublishOutcome>;
  /** Called when the connection has closed. */
  closed?(session: PublisherSession): void;
}

/** The reason for refusing a message whose caller has too many waiting messages. */
export const TOO_MANY_WAIT = 'overloaded: too many messages wait for their turn';

/** The outcome of a publish message. */
export type PublishOutcome =
  | {
      readonly ok: true;
      readonly traceId: string | undefined;
      readonly accepted: readonly string[];
      /** Reasons by symbol. */
      readonly rejected: ReadonlyMap<string, string>;
      /** The UNIX second from which signatures of the caller are verified again, if none are verified now. */
      readonly verifiedFromS?: bigint;
    }
  | { readonly ok: false; readonly traceId: string | undefined; readonly error: string };

/**
 * Returns the outcome; for a durable session only after the accepted updates are on disk.
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
