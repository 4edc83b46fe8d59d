import { ageText, clockText } from './price_text.js';

/** The silence after which the page reports a lost connection. Frames come twice a second. */
const SILENT_MS = 2_000;
/** The smallest difference between the clocks of the service and of this computer that the page reports. */
const CLOCK_DIFFERENCE_MS = 2_000;
/** The time for which the page shows a gap beside the state. */
const GAP_SHOWN_MS = 60_000;
const NS_PER_MS = 1_000_000n;

/** The times of the last payload before a gap and of the first payload after it, in UNIX nanoseconds. */
export type GapTimes = Readonly<Record<'fromNs' | 'toNs', bigint>>;

/** The page's information about its connection. */
export interface ConnectionFacts {
  readonly isUp: boolean;
  /** False when the browser knows that this computer has no network. */
  readonly isOnline: boolean;
  /** The reason of the last loss or failed attempt; `undefined` before the first loss. */
  readonly downReason: string | undefined;
  /** The time at which the last frame arrived, by the monotonic clock of this computer. */
  readonly lastFrameMs: number | undefined;
  /** True when the last frame failed its check. */
  readonly isFailing: boolean;
  /** The difference between this computer's clock and the time of the last verified frame. */
  readonly aheadMs: number;
  /** The number of verified frames since the page was opened. `failed` counts frames that failed. */
  readonly verified: number;
  readonly failed: number;
  /** The newest part of the stream that did not arrive, and the time at which the page learned of it. */
  readonly lastGap: (GapTimes & { readonly seenMs: number }) | undefined;
  /** The number of such parts since the page was opened. */
  readonly gaps: number;
}

/** The state of a connection, updated by its events. */
export class ConnectionLog implements ConnectionFacts {
  isUp = false;
  isOnline = true;
  downReason: string | undefined;
  lastFrameMs: number | undefined;
  isFailing = false;
  aheadMs = 0;
  verified = 0;
  failed = 0;
  lastGap: ConnectionFacts['lastGap'];
  gaps = 0;

  up(): void {
    this.isUp = true;
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
  { isUp, isOnline, downReason, lastFrameMs, isFailing, lastGap }: ConnectionFacts,
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
  return { tone: 'good', text: isTold ? `Live, missed ${gapText(lastGap)}` : 'Live' };
}

/** Describes a part of the stream that did not arrive: `1.2 s until 01:02:03 UTC`. The chart marks its candle. */
export function gapText({ fromNs, toNs }: GapTimes): string {
  return `${ageText(Number((toNs - fromNs) / NS_PER_MS))} until ${clockText(Number(toNs / NS_PER_MS))}`;
}

/** Describes the difference between the two clocks. */
export function clockRemark(aheadMs: number): string {
  if (Math.abs(aheadMs) < CLOCK_DIFFERENCE_MS) return 'agrees with the service';
  return `${ageText(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} the service`;
}
