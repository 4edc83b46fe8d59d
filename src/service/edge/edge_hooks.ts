import type { Logger } from 'pino';
import type { PublishReceiver } from '../../prices/publisher_session.js';
import type { AskPast } from './other_pasts.js';

/** The functions of the process that an edge calls. */
export interface EdgeHooks {
  /** The receiver of the messages that publishers send to this edge. */
  readonly receiver: PublishReceiver;
  /** Called for each message and request, as a sign that the thread works. */
  readonly onWork?: () => void;
  /** Receives the hashes of signed payloads, without gaps, for the log of streaming payloads; absent when there is none. */
  readonly onSigned?: ((hashes: Uint8Array) => void) | undefined;
  /** Asks other nodes about their past; absent without a cluster. */
  readonly askPast?: AskPast | undefined;
  /** Called for damage of the past that a request finds. */
  readonly onPastDamage: (reason: string) => void;
  /** Called when the edge needs a tick no later than this time. */
  readonly onDue: (timeNs: bigint) => void;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
}
