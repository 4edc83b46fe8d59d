import type { StreamEra } from '../clock/stream_times.js';
import type { AssetIndex } from '../model/asset.js';
import { Roster } from '../model/roster.js';
import { CHANNEL_INTERVALS_MS } from '../wire/stream.js';
import type { KeptFrame } from './kept_frame.js';
import type { StreamOptions } from './options.js';
import type { StreamSession } from './session.js';

/**
 * The connections with the same channel, message type, attributes, asset set and era. They share each frame's bytes, its
 * signature and the topic it is published on.
 */
export class Group {
  /** The connections in the topic: they get the next frame. */
  readonly members = new Roster<'memberPlace', StreamSession>('memberPlace');
  /** The connections outside the topic: newcomers that must not get a frame made before they came, and slow readers. */
  readonly waiting = new Set<StreamSession>();
  /** `real_time`: the members have got all changes up to this price sequence. */
  sequence = 0;
  lastFrameNs = 0n;
  /** The `ts` of the last frame. */
  lastTimestampNs = 0n;
  /** A frame is at the signers. The next one waits for it, or on fixed channels is skipped. */
  signing = false;
  /** `real_time`: it is in the list of groups with changes to send. */
  dirty = false;
  readonly intervalMs: number | undefined;
  /** Only for `unsigned` fixed channels, and only while there is memory for it. */
  keptFrame: KeptFrame | undefined;

  constructor(
    readonly key: string,
    readonly topic: number,
    readonly options: StreamOptions,
    readonly era: StreamEra,
    /** Ascending by streaming ID. */
    readonly assets: readonly AssetIndex[],
  ) {
    this.intervalMs = CHANNEL_INTERVALS_MS[options.channel];
  }
}
