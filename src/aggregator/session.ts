import type { PublishRights } from '../ingest/gate.js';
import type { SignatureType } from '../model/asset.js';

/** One publisher connection: its messages take effect in the order they came. */
export interface PublisherSession {
  readonly type: SignatureType;
  readonly rights: PublishRights;
  /** The message before, while its signatures are being verified. */
  tail: Promise<unknown> | undefined;
}

/** Takes what publishers send. */
export interface PublishReceiver {
  /** Takes one message. Answers at once where no signature had to wait for another thread. */
  receive(session: PublisherSession, text: string): PublishOutcome | Promise<PublishOutcome>;
}

/** What became of one publish message. */
export type PublishOutcome =
  | {
      readonly ok: true;
      readonly traceId: string | undefined;
      readonly accepted: readonly string[];
      /** Symbol to reason. */
      readonly rejected: ReadonlyMap<string, string>;
    }
  | { readonly ok: false; readonly traceId: string | undefined; readonly error: string };
