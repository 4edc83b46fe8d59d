import { type GapEvent, parseExactJson } from '../index.js';
import { ageText, clockText } from './price_text.js';

const NS_PER_MS = 1_000_000n;
/** The silence after which the page reports a lost connection. Frames come twice a second. */
const SILENT_MS = 2_000;
/** The time for which the page shows a gap beside the state. */
const GAP_SHOWN_MS = 60_000;

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
  lastGap: (GapEvent & { readonly seenMs: number }) | undefined;
  /** The number of such parts since the page was opened. */
  gaps = 0;

  down(reason: string): void {
    this.isUp = false;
    this.downReason = reason;
  }

  missed(gap: GapEvent, nowMs: number): void {
    this.lastGap = { ...gap, seenMs: nowMs };
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

/** Describes the connection in a line. @param subscribed the number of assets that the service sends */
export function connectionState(
  { isUp, isOnline, downReason, lastFrameMs, isFailing, lastGap }: ConnectionLog,
  subscribed: number,
  nowMs: number,
): { readonly tone: 'good' | 'waiting' | 'bad'; readonly text: string } {
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

/** Describes a part of the stream that did not arrive: `1.2 s until 01:02:03 UTC`. */
export function gapText(gap: GapEvent): string {
  return `${ageText(lengthMs(gap))} until ${clockText(Number(gap.toNs / NS_PER_MS))}`;
}

function lengthMs({ fromNs, toNs }: GapEvent): number {
  return Number((toNs - fromNs) / NS_PER_MS);
}

/** Describes the nodes of a cluster by the answer of `/v1/nodes`; empty for a process without a cluster. */
export function nodesText(text: string): string {
  const { data } = parseExactJson(text) as {
    data: { self: bigint | number; nodes: readonly { node: bigint | number; role: string }[] };
  };
  const self = Number(data.self);
  const leader = data.nodes.find(({ role }) => role === 'leader');
  if (self === 0) return '';
  if (leader === undefined) return `Node ${self} serves this page. No node makes prices just now.`;
  return Number(leader.node) === self
    ? `Node ${self} serves this page and makes the prices.`
    : `Node ${self} serves this page. Node ${leader.node} makes the prices.`;
}
