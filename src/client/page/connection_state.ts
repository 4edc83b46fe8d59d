import { ageText } from './price_text.js';

/** Frames come twice a second; so long without one is worth saying. */
const SILENT_MS = 2_000;
/** The clocks of the service and this computer may differ by this much before the page says so. */
const CLOCK_DIFFERENCE_MS = 2_000;

/** What the page knows of its connection. */
export interface ConnectionFacts {
  readonly isUp: boolean;
  /** Why it is down, if it was up or tried. */
  readonly downReason: string | undefined;
  /** When the last frame came, by the steady clock. */
  readonly lastFrameMs: number | undefined;
  /** Whether the last frame failed its check. */
  readonly isFailing: boolean;
  /** How far this computer's clock was ahead of the time of the last verified frame. */
  readonly aheadMs: number;
  /** Frames since the page was opened. */
  readonly verified: number;
  readonly failed: number;
}

/** Keeps the facts of a connection and all that follow it. */
export class ConnectionLog implements ConnectionFacts {
  isUp = false;
  downReason: string | undefined;
  lastFrameMs: number | undefined;
  isFailing = false;
  aheadMs = 0;
  verified = 0;
  failed = 0;

  up(): void {
    this.isUp = true;
  }

  down(reason: string): void {
    this.isUp = false;
    this.downReason = reason;
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

/** One line about the connection. @param subscribed how many assets the service sends */
export function connectionState(
  { isUp, downReason, lastFrameMs, isFailing }: ConnectionFacts,
  subscribed: number,
  nowMs: number,
): ShownConnection {
  if (!isUp)
    return downReason === undefined
      ? { tone: 'waiting', text: 'Connecting' }
      : { tone: 'bad', text: 'No connection' };
  if (lastFrameMs === undefined || subscribed === 0) return { tone: 'waiting', text: 'Connected' };
  const silentMs = nowMs - lastFrameMs;
  if (silentMs > SILENT_MS) return { tone: 'bad', text: `Silent for ${ageText(silentMs)}` };
  return isFailing ? { tone: 'bad', text: 'Frames fail' } : { tone: 'good', text: 'Live' };
}

/** Says when the two clocks differ. */
export function clockRemark(aheadMs: number): string {
  if (Math.abs(aheadMs) < CLOCK_DIFFERENCE_MS) return 'agrees with the service';
  return `${ageText(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} the service`;
}
