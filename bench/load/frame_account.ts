import { NS_PER_MS } from '../../src/model/time.js';
import { Delays, nowMicros } from './delays.js';
import { frameTimeNs } from './frame_time.js';

/** The frames that a process received since its last report. */
export interface FrameCounts {
  frames: number;
  bytes: number;
  /** Ticks of a fixed channel that a connection did not receive. */
  gaps: number;
  /** Frames that differ from another connection's frame with the same time and assets. */
  different: number;
}

/** The number of frames kept for comparison, one for each time. */
const KEPT_FRAMES = 16;
/** The number of kept frames whose bytes are compared. The frames of several serving threads alternate. */
const COMPARED_FRAMES = 4;
/** The time after which a connection without frames counts as lagging. */
const SILENT_NS = 1_000_000_000n;
/** The resolution of frame times in microseconds, without the low bits for the node and the thread. */
const TIME_GRAIN_MICROS = 4;

interface KnownFrame {
  readonly timeNs: bigint;
  readonly madeMicros: number;
  /** The number of the channel's tick; 0 on `real_time`. */
  readonly tick: number;
  readonly bytes: Buffer;
}

/**
 * Counts the frames of connections with the same channel and assets. Most frames are equal to the newest frame of another connection,
 * so a comparison of bytes replaces the parsing of a frame.
 */
export class FrameAccount {
  readonly delays = new Delays();
  readonly #intervalNs: bigint;
  readonly #known: KnownFrame[] = [];
  /** The last tick of each connection. */
  readonly #lastTicks: (number | undefined)[] = [];
  /** The newest tick of all connections. */
  #newestTick: number | undefined;
  #counts = noFrames();
  /** The smallest difference between this machine's clock and the times of frames, if the service runs on another machine. */
  #offsetMicros: number | undefined;

  /**
   * @param intervalMs the interval of the channel; 0 for `real_time`, which has no gaps
   * @param isSameClock true if the service runs on this machine
   * @param connections the number of connections, so that connections without any frame also count
   */
  constructor(
    intervalMs: number,
    readonly isSameClock: boolean,
    readonly connections: number,
  ) {
    this.#intervalNs = BigInt(intervalMs) * NS_PER_MS;
  }

  receive(frame: Buffer, connection: number): void {
    const known = this.#sameAs(frame) ?? this.#learn(frame);
    if (known === undefined) return;
    this.#counts.frames++;
    this.#counts.bytes += frame.length;
    this.#countGap(known.tick, connection);
    this.delays.recordMicros(this.#delayMicros(known.madeMicros));
  }

  /** Returns the counts since the last call. */
  take(): FrameCounts {
    this.#countSilent();
    const counts = this.#counts;
    this.#counts = noFrames();
    return counts;
  }

  #sameAs(frame: Buffer): KnownFrame | undefined {
    for (let i = 0; i < COMPARED_FRAMES; i++) if (this.#known[i]?.bytes.equals(frame)) return this.#known[i];
    return undefined;
  }

  #learn(frame: Buffer): KnownFrame | undefined {
    const timeNs = frameTimeNs(frame);
    if (timeNs === undefined) return undefined;
    const earlier = this.#known.find((known) => known.timeNs === timeNs);
    if (earlier !== undefined) {
      if (!earlier.bytes.equals(frame)) this.#counts.different++;
      return earlier;
    }
    const known = {
      timeNs,
      madeMicros: Number(timeNs / 1_000n),
      tick: this.#tickOf(timeNs),
      bytes: Buffer.from(frame),
    };
    this.#known.unshift(known);
    this.#known.length = Math.min(this.#known.length, KEPT_FRAMES);
    return known;
  }

  /**
   * Returns the number of the tick to which a frame belongs. A frame that is late by less than an interval belongs to the previous
   * tick.
   */
  #tickOf(timeNs: bigint): number {
    return this.#intervalNs === 0n ? 0 : Number(timeNs / this.#intervalNs);
  }

  #countGap(tick: number, connection: number): void {
    const last = this.#lastTicks[connection];
    this.#lastTicks[connection] = tick;
    if (this.#newestTick === undefined || tick > this.#newestTick) this.#newestTick = tick;
    if (last !== undefined && tick > last + 1) this.#counts.gaps += tick - last - 1;
  }

  /** Counts the ticks that silent connections miss, up to the newest tick. A connection without any frame misses the ticks from now on. */
  #countSilent(): void {
    const newest = this.#newestTick;
    if (newest === undefined || this.#intervalNs === 0n) return;
    const silentTicks = Number(SILENT_NS / this.#intervalNs) + 1;
    for (let connection = 0; connection < this.connections; connection++) {
      const last = this.#lastTicks[connection];
      if (last !== undefined && newest - last <= silentTicks) continue;
      if (last !== undefined) this.#counts.gaps += newest - last;
      this.#lastTicks[connection] = newest;
    }
  }

  #delayMicros(madeMicros: number): number {
    const micros = nowMicros() - madeMicros;
    if (this.isSameClock) return micros;
    if (this.#offsetMicros === undefined || micros < this.#offsetMicros) this.#offsetMicros = micros;
    return micros - this.#offsetMicros + TIME_GRAIN_MICROS;
  }
}

function noFrames(): FrameCounts {
  return { frames: 0, bytes: 0, gaps: 0, different: 0 };
}
