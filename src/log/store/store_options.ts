import type { AssetName } from '../../model/asset_map.js';
import type { Clock } from '../../model/time.js';
import type { LastSegment } from '../disk/disk_log.js';
import type { SegmentReader } from '../disk/segment.js';
import type { AcceptedInput } from '../records/accepted_input.js';
import type { FolderOptions } from './folder.js';
import type { LoggedStateOptions } from './logged_state.js';

/** The position of the log of a data folder. */
export interface SegmentPosition {
  /** The number of the segment of the log that has the newest commit. */
  readonly segment: number;
  /** The number of finished segments whose entries are not in the past, the candles and the snapshot yet. */
  readonly segmentsWaiting: number;
}

export interface StoreFigures extends SegmentPosition {
  /** The size of the log, the snapshot and the candles. */
  readonly bytes: number;
  /** The free space of the file system for this process. */
  readonly freeBytes: number;
  /** The time of the last successful commit, in UNIX milliseconds; `undefined` before the first commit. */
  readonly committedAtMs: number | undefined;
  /** The first day of the oldest month that has candles, in days since 1970. */
  readonly oldestDay: number | undefined;
}

export interface StoredInput extends AcceptedInput {
  readonly asset: AssetName;
  /** The bytes of the publisher's key. */
  readonly key: Buffer;
}

/** Files that take the entries of the segments of the log, one segment after the other. */
export interface SegmentFollower {
  /** The last segment whose entries the files have. */
  readonly last: LastSegment;
  /** Takes the entries of a segment. A segment may come again. @throws Error (as a rejection) soon after the signal, unless it is done */
  seal(segment: SegmentReader, signal: AbortSignal): Promise<void>;
  /** Receives damage of the files that the state of the folder shows, in words. */
  notice(damage: string): void;
}

export interface StoreOptions
  extends FolderOptions,
    Pick<LoggedStateOptions, 'clock' | 'logger' | 'reserveBytes' | 'freeBytes' | 'companion'> {
  /** The configured assets. The state of other assets stays unchanged. */
  readonly assets: readonly AssetName[];
  /** The retention time of candles. The store deletes whole months, some time after their retention time has passed. */
  readonly candleRetentionMs: number;
  readonly clock: Clock;
  /** Opens the files that take the entries of the log. Called when the folder belongs to this process. */
  readonly openFollower?: (() => Promise<SegmentFollower>) | undefined;
  /** The delay of the work on the segments of the last process. A start then has this time. The default is 0. */
  readonly laterMs?: number;
}
