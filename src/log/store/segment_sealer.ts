import { NS_PER_MS } from '../../model/time.js';
import { DAY_S } from '../../wire/resolution.js';
import type { LastSegment } from '../disk/disk_log.js';
import { logFolderOf, SegmentReader } from '../disk/segment.js';
import type { EntryState } from './entry_state.js';
import type { KeptCandles } from './kept_candles.js';
import { encodeSnapshot, writeSnapshot } from './state_snapshot.js';
import type { SegmentFollower, StoreOptions } from './store_options.js';

const HOUR_MS = 3_600_000;

export interface SegmentSealerOptions extends Pick<StoreOptions, 'dir' | 'clock'> {
  readonly state: EntryState;
  readonly candles: KeptCandles;
  readonly follower: SegmentFollower | undefined;
  /** Resolves when every entry so far is on disk. */
  readonly durable: () => Promise<void>;
  readonly candleRetentionMs: () => number;
}

/** Moves the entries of segments into the files in which they stay: the past, the candles and the snapshot. */
export class SegmentSealer {
  readonly #options: SegmentSealerOptions;
  /** The hour since 1970 in which old candles were last removed. */
  #removedHour: number | undefined;

  constructor(options: SegmentSealerOptions) {
    this.#options = options;
  }

  /** @throws Error (as a rejection) when the disk fails, or after the signal */
  async seal(sealed: LastSegment, signal: AbortSignal): Promise<void> {
    const { dir, state, candles, follower, durable } = this.#options;
    const reader = follower && (await SegmentReader.open(logFolderOf(dir), sealed.segment));
    try {
      if (reader !== undefined) await follower!.seal(reader, signal);
    } finally {
      await reader?.close();
    }
    const frames = await encodeSnapshot(state.entries(), sealed, signal);
    // The snapshot may have closed minutes and entries that are newer than the segment.
    await candles.sync(signal);
    await durable();
    signal.throwIfAborted();
    await writeSnapshot(dir, frames);
    await this.removeOldCandles();
  }

  /** Removes the candles whose retention time is over, once in an hour. */
  async removeOldCandles(): Promise<void> {
    const { clock, candles, candleRetentionMs } = this.#options;
    const nowMs = Number(clock.nowNs() / NS_PER_MS);
    const hour = Math.floor(nowMs / HOUR_MS);
    if (hour === this.#removedHour) return;
    this.#removedHour = hour;
    await candles.removeBefore(Math.floor((nowMs - candleRetentionMs()) / (DAY_S * 1000)));
  }
}
