import type { Logger } from 'pino';
import type { PublicLogFacts } from '../../model/node_list.js';
import type { Ledger } from '../../publiclog/ledger/ledger.js';
import type { Ed25519Key } from '../../tlog/ed25519_key.js';
import type { CheckpointPublisher, LogWitnesses } from './checkpoint_publisher.js';

/** The key that signs a log, with the witnesses and facts that belong to it. */
export interface LogKey extends LogWitnesses {
  readonly key: Ed25519Key;
  readonly facts: PublicLogFacts;
}

export interface PublicLogOptions {
  readonly ledger: Ledger;
  /** The folder of the files that only this program reads. */
  readonly stateFolder: string;
  readonly publisher: CheckpointPublisher;
  readonly facts: PublicLogFacts;
  readonly batchNs: bigint;
  readonly checkpointMs: number;
  /** Records on disk that the log has stopped. */
  readonly onStopped: (reason: string) => Promise<void>;
  /** Returns the time of a monotonic clock in milliseconds. */
  readonly nowMs: () => number;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
}

export interface PublicLogFigures {
  /** The number of batches. */
  readonly size: bigint;
  /** The time since a checkpoint was last published; `undefined` before the first checkpoint. */
  readonly checkpointAgeMs: number | undefined;
  /** The number of witnesses that cosigned the published checkpoint. */
  readonly witnesses: number;
  readonly hasQuorum: boolean;
  readonly isStopped: boolean;
}
