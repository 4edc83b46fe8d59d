import type { PublishRights } from '../ingest/gate.js';
import type { ReadMessage } from '../ingest/message.js';
import type { SignatureType } from '../model/asset.js';

/** One publisher connection: its messages take effect in the order they came. */
export interface PublisherSession {
  readonly type: SignatureType;
  readonly rights: PublishRights;
  /** It is answered when what was accepted is on disk. */
  readonly isDurable: boolean;
  /** Messages that have not taken effect, because their signatures or those of one before are being verified; in order. */
  readonly unsettled: UnsettledMessage[];
}

/** A message whose updates are at the verifiers. */
export interface UnsettledMessage {
  /** Has its updates take effect; `undefined` until its verdicts are there. */
  settle: (() => void) | undefined;
}

/** Takes what publishers send, after it was read. */
export interface PublishReceiver {
  /** Takes one message. Answers at once where it had to wait neither for its turn nor for signatures on another thread. */
  receive(session: PublisherSession, message: ReadMessage): PublishOutcome | Promise<PublishOutcome>;
  /** The connection has closed. */
  closed?(session: PublisherSession): void;
}

/** Why a message is refused whose caller has too many of them waiting. */
export const TOO_MANY_WAIT = 'overloaded: too many messages wait for their turn';

/** What became of one publish message. */
export type PublishOutcome =
  | {
      readonly ok: true;
      readonly traceId: string | undefined;
      readonly accepted: readonly string[];
      /** Symbol to reason. */
      readonly rejected: ReadonlyMap<string, string>;
      /** The UNIX second from which on signatures of the caller are verified again, when none are now. */
      readonly verifiedFromS?: bigint;
    }
  | { readonly ok: false; readonly traceId: string | undefined; readonly error: string };

/**
 * The outcome, for a durable session when what was accepted is on disk.
 * @param written resolves when all that was accepted so far is on disk; rejects while the disk fails
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
