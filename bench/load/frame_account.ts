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
  readonly #intervalMicros: number;
  readonly #known: KnownFrame[] = [];
  /** The last tick of each connection. */
  readonly #lastTicks: (number | undefined)[] = [];
  /** The last tick that counts; `undefined` during the load. */
  #endTick: number | undefined;
  #counts = noFrames();
  /** The smallest difference between this machine's clock and the times of frames, if the service runs on another machine. */
  #offsetMicros: number | undefined;

  /**
   * @param intervalMs the interval of the channel; 0 for `real_time`, which has no gaps
   * @param isSameClock true if the service runs on this machine
   * @param connections the number of connections, so that connections without any frame also count
   * @param now the current time in microseconds
   */
  constructor(
    intervalMs: number,
    readonly isSameClock: boolean,
    readonly connections: number,
    readonly now = nowMicros,
  ) {
    this.#intervalNs = BigInt(intervalMs) * NS_PER_MS;
    this.#intervalMicros = intervalMs * 1_000;
  }

  /** Begins the counts: drops the frames so far, and counts the ticks that a connection misses from this moment. */
  begin(): void {
    this.#counts = noFrames();
    this.delays.take();
    const tick = this.#clockTick();
    if (tick === undefined) return;
    for (let i = 0; i < this.connections; i++) this.#lastTicks[i] = Math.max(this.#lastTicks[i] ?? 0, tick);
  }

  /** @returns false if the message has no prices */
  receive(frame: Buffer, connection: number): boolean {
    const known = this.#sameAs(frame) ?? this.#learn(frame);
    if (known === undefined) return false;
    if (this.#endTick !== undefined && (this.#intervalNs === 0n || known.tick > this.#endTick)) return true;
    this.#counts.frames++;
    this.#counts.bytes += frame.length;
    this.#learnOffset(known.madeMicros);
    this.#countGap(known.tick, connection);
    this.delays.recordMicros(this.#delayMicros(known.madeMicros));
    return true;
  }

  /** Returns the counts since the last call. */
  take(): FrameCounts {
    const counts = this.#counts;
    this.#counts = noFrames();
    return counts;
  }

  /** Ends the load: frames of later ticks do not count. */
  end(): void {
    this.#endTick = this.#clockTick() ?? 0;
  }

  /** Counts the ticks up to the end of the load that have not arrived yet. */
  countMissing(): void {
    if (this.#intervalNs === 0n) return;
    for (let i = 0; i < this.connections; i++)
      if (this.#lastTicks[i] !== undefined) this.#countGap(this.#endTick! + 1, i);
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

  /**
   * Counts the ticks between a connection's last frame and this one. A missing tick has the delay until this frame, so that a
   * service that stands still cannot hide its delay by leaving out ticks.
   */
  #countGap(tick: number, connection: number): void {
    const last = this.#lastTicks[connection];
    if (last !== undefined && tick <= last) return;
    this.#lastTicks[connection] = tick;
    for (let missing = (last ?? tick) + 1; missing < tick; missing++) {
      this.#counts.gaps++;
      this.delays.recordMicros(this.#delayMicros(missing * this.#intervalMicros));
    }
  }

  /** Returns the current tick by the service's clock; `undefined` before that clock is known, and on `real_time`. */
  #clockTick(): number | undefined {
    if (this.#intervalNs === 0n || (!this.isSameClock && this.#offsetMicros === undefined)) return undefined;
    return Math.floor((this.now() - (this.#offsetMicros ?? 0)) / this.#intervalMicros);
  }

  #learnOffset(madeMicros: number): void {
    if (this.isSameClock) return;
    const micros = this.now() - madeMicros;
    if (this.#offsetMicros === undefined || micros < this.#offsetMicros) this.#offsetMicros = micros;
  }

  #delayMicros(madeMicros: number): number {
    const micros = this.now() - madeMicros;
    return this.isSameClock ? micros : micros - (this.#offsetMicros ?? 0) + TIME_GRAIN_MICROS;
  }
}

function noFrames(): FrameCounts {
  return { frames: 0, bytes: 0, gaps: 0, different: 0 };
}
