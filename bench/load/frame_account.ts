import { NS_PER_MS } from '../../src/model/time.js';
import { PAYLOAD_SIGNATURE, SIMPLIFIED_LAYOUT } from '../../src/wire/payload_fields.js';
import { Delays, nowMicros } from './delays.js';
import { NO_COUNTS } from './jobs.js';

const SIGNED_HEAD = '{"type":"signed_ecdsa","p":"0x';
const TIMESTAMP_BYTES = 8;
/** The place of the timestamp's first hexadecimal digit in a signed frame. */
const TIMESTAMP_AT = SIGNED_HEAD.length + 2 * (PAYLOAD_SIGNATURE.bytes + SIMPLIFIED_LAYOUT.head.at.timestamp);
const UNSIGNED_TIME = '"ts":';
const DIGITS_MAX = 19;
/** The resolution of frame times in microseconds, without the low bits for the node and the thread. */
const TIME_GRAIN_MICROS = 4;

/** Returns the time of a price frame in nanoseconds; `undefined` for other messages. */
export function frameTimeNs(frame: Buffer): bigint | undefined {
  if (frame.length > TIMESTAMP_AT && frame.toString('latin1', 0, SIGNED_HEAD.length) === SIGNED_HEAD)
    return BigInt(`0x${frame.toString('latin1', TIMESTAMP_AT, TIMESTAMP_AT + 2 * TIMESTAMP_BYTES)}`);
  const at = frame.indexOf(UNSIGNED_TIME);
  if (at < 0) return undefined;
  const from = at + UNSIGNED_TIME.length;
  const [digits] = /^\d*/.exec(frame.toString('latin1', from, from + DIGITS_MAX))!;
  return digits === '' ? undefined : BigInt(digits);
}

/** Counts the frames of connections with the same channel and assets. */
export class FrameAccount {
  readonly #delays = new Delays();
  readonly #intervalNs: bigint;
  readonly #intervalMicros: number;
  readonly #isSameClock: boolean;
  readonly #connections: number;
  readonly #now: () => number;
  /** The last tick of each connection. */
  readonly #lastTicks: (number | undefined)[] = [];
  /** The last tick that counts; `undefined` during the load. */
  #endTick: number | undefined;
  #counts = { ...NO_COUNTS };
  /** The smallest difference between this machine's clock and the times of frames, if the service runs on another machine. */
  #offsetMicros: number | undefined;

  /**
   * @param intervalMs the interval of the channel; 0 for `real_time`, which has no gaps
   * @param isSameClock true if the service runs on this machine
   * @param connections the number of connections, so that connections without any frame also count
   * @param now the current time in microseconds
   */
  constructor(intervalMs: number, isSameClock: boolean, connections: number, now = nowMicros) {
    this.#intervalNs = BigInt(intervalMs) * NS_PER_MS;
    this.#intervalMicros = intervalMs * 1_000;
    this.#isSameClock = isSameClock;
    this.#connections = connections;
    this.#now = now;
  }

  /** Begins the counts: drops the frames so far, and counts the ticks that a connection misses from this moment. */
  begin(): void {
    this.take();
    const tick = this.#clockTick();
    if (tick === undefined) return;
    for (let i = 0; i < this.#connections; i++) this.#lastTicks[i] = Math.max(this.#lastTicks[i] ?? 0, tick);
  }

  /** @returns false if the message has no prices */
  receive(frame: Buffer, connection: number): boolean {
    const timeNs = frameTimeNs(frame);
    if (timeNs === undefined) return false;
    const tick = this.#intervalNs === 0n ? 0 : Number(timeNs / this.#intervalNs);
    if (this.#endTick !== undefined && (this.#intervalNs === 0n || tick > this.#endTick)) return true;
    const madeMicros = Number(timeNs / 1_000n);
    this.#counts.frames++;
    this.#counts.bytes += frame.length;
    this.#offsetMicros = Math.min(this.#offsetMicros ?? Number.POSITIVE_INFINITY, this.#now() - madeMicros);
    this.#countGap(tick, connection);
    this.#delays.recordMicros(this.#delayMicros(madeMicros));
    return true;
  }

  /** Returns the counts since the last call. */
  take() {
    const counts = this.#counts;
    this.#counts = { ...NO_COUNTS };
    return { ...counts, delays: this.#delays.take() };
  }

  /** Ends the load: frames of later ticks do not count. */
  end(): void {
    this.#endTick = this.#clockTick() ?? 0;
  }

  /** Counts the ticks up to the end of the load that have not arrived yet. */
  countMissing(): void {
    if (this.#intervalNs === 0n) return;
    for (let i = 0; i < this.#connections; i++)
      if (this.#lastTicks[i] !== undefined) this.#countGap(this.#endTick! + 1, i);
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
      this.#delays.recordMicros(this.#delayMicros(missing * this.#intervalMicros));
    }
  }

  /** Returns the current tick by the service's clock; `undefined` before that clock is known, and on `real_time`. */
  #clockTick(): number | undefined {
    const offsetMicros = this.#isSameClock ? 0 : this.#offsetMicros;
    if (this.#intervalNs === 0n || offsetMicros === undefined) return undefined;
    return Math.floor((this.#now() - offsetMicros) / this.#intervalMicros);
  }

  #delayMicros(madeMicros: number): number {
    const micros = this.#now() - madeMicros;
    return this.#isSameClock ? micros : micros - (this.#offsetMicros ?? 0) + TIME_GRAIN_MICROS;
  }
}
