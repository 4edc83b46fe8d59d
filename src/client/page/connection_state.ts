import { NS_PER_MS } from '../../model/time.js';
import { ageText, clockText } from './price_text.js';

/** The silence after which the page reports a lost connection. Frames come twice a second. */
const SILENT_MS = 2_000;
/** The smallest difference between the clocks of the service and of this computer that the page reports. */
const CLOCK_DIFFERENCE_MS = 2_000;
/** The time for which the page shows a gap beside the state. */
const GAP_SHOWN_MS = 60_000;

/** The times of the last payload before a gap and of the first payload after it, in UNIX nanoseconds. */
export type GapTimes = Readonly<Record<'fromNs' | 'toNs', bigint>>;

/** The state of the connection, updated by its events. */
export class ConnectionLog {
  isUp = false;
  /** False when the browser knows that this computer has no network. */
  isOnline = true;
  /** The reason of the last loss or failed attempt; `undefined` before the first loss. */
  downReason: string | undefined;
  /** The time at which the last frame arrived, by the monotonic clock of this computer. */
  lastFrameMs: number | undefined;
  /** True when the last frame failed its check. */
  isFailing = false;
  /** The difference between this computer's clock and the time of the last verified frame. */
  aheadMs = 0;
  /** The number of verified frames since the page was opened. `failed` counts frames that failed. */
  verified = 0;
  failed = 0;
  /** The newest part of the stream that did not arrive, and the time at which the page learned of it. */
  lastGap: (GapTimes & { readonly seenMs: number }) | undefined;
  /** The number of such parts since the page was opened. */
  gaps = 0;

  /** @returns true if no connection was lost before */
  up(): boolean {
    this.isUp = true;
    return this.downReason === undefined;
  }

  down(reason: string): void {
    this.isUp = false;
    this.downReason = reason;
  }

  missed({ fromNs, toNs }: GapTimes, nowMs: number): void {
    this.lastGap = { fromNs, toNs, seenMs: nowMs };
    this.gaps += 1;
  }

  passed(nowMs: number, aheadMs: number): void {
    this.lastFrameMs = nowMs;
    this.isFailing = false;
    this.aheadMs = aheadMs;
    this.verified += 1;
  }

  refused(nowMs: number): void {
    this.lastFrameMs = nowMs;
    this.isFailing = true;
    this.failed += 1;
  }
}

export interface ShownConnection {
  readonly tone: 'good' | 'waiting' | 'bad';
  readonly text: string;
}

/** Describes the connection in a line. @param subscribed the number of assets that the service sends */
export function connectionState(
  { isUp, isOnline, downReason, lastFrameMs, isFailing, lastGap }: ConnectionLog,
  subscribed: number,
  nowMs: number,
): ShownConnection {
  if (!isUp)
    return downReason === undefined
      ? { tone: 'waiting', text: 'Connecting' }
      : { tone: 'bad', text: isOnline ? 'No connection' : 'Offline' };
  if (lastFrameMs === undefined || subscribed === 0) return { tone: 'waiting', text: 'Connected' };
  const silentMs = nowMs - lastFrameMs;
  if (silentMs > SILENT_MS) return { tone: 'bad', text: `Silent for ${ageText(silentMs)}` };
  if (isFailing) return { tone: 'bad', text: 'Frames fail' };
  const isTold = lastGap !== undefined && nowMs - lastGap.seenMs <= GAP_SHOWN_MS;
  return { tone: 'good', text: isTold ? `Live · ${ageText(lengthMs(lastGap))} gap` : 'Live' };
}

/** Describes a part of the stream that did not arrive: `1.2 s until 01:02:03 UTC`. The chart marks its candle. */
export function gapText({ fromNs, toNs }: GapTimes): string {
  return `${ageText(lengthMs({ fromNs, toNs }))} until ${clockText(Number(toNs / NS_PER_MS))}`;
}

function lengthMs({ fromNs, toNs }: GapTimes): number {
  return Number((toNs - fromNs) / NS_PER_MS);
}

/** Returns the age of a time by a clock, in ms; below 0 for a time ahead of the clock. */
export function ageMs(timestampNs: bigint, nowMs: number): number {
  return nowMs - Number(timestampNs / 1_000n) / 1_000;
}

/** Describes the difference between the two clocks. */
export function clockRemark(aheadMs: number): string {
  if (Math.abs(aheadMs) < CLOCK_DIFFERENCE_MS) return 'agrees with the service';
  return `${ageText(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} the service`;
}
