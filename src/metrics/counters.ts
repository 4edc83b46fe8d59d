import { FrameLatency } from './frame_latency.js';

/** The counts of the service since its start. They are plain numbers: the hot paths add to them, `/metrics` reads them. */
export interface Counters {
  /** Frames that were encoded. */
  framesMade: number;
  /** Frames that were not sent to slow readers. */
  framesSkipped: number;
  /** Ticks on which a group got no frame because the service was late. */
  ticksSkipped: number;
  /** Connections closed with 1013. */
  slowConsumersClosed: number;
  publishMessages: number;
  updatesAccepted: number;
  /** By reason. Reasons are the fixed texts of the checks, so there are few of them. */
  readonly updatesRejected: Map<string, number>;
  /** Per reason. */
  readonly loginsRefused: Map<string, number>;
  aggregatesSigned: number;
  /** Aggregates that could not be signed. */
  signingFailures: number;
  /** How often an asset lost its price, because too few publishers had fresh inputs. */
  assetsEnded: number;
  /** Replies to publishers that do not read their socket. */
  repliesDropped: number;
  /** Frames that a serving thread lost because it was too far behind. */
  threadOverruns: number;
  /** Serving threads that died or hung. */
  threadFailures: number;
  readonly frameLatency: FrameLatency;
}

export function createCounters(): Counters {
  return {
    publishMessages: 0,
    updatesAccepted: 0,
    updatesRejected: new Map(),
    loginsRefused: new Map(),
    aggregatesSigned: 0,
    signingFailures: 0,
    assetsEnded: 0,
    repliesDropped: 0,
    framesMade: 0,
    framesSkipped: 0,
    ticksSkipped: 0,
    slowConsumersClosed: 0,
    threadOverruns: 0,
    threadFailures: 0,
    frameLatency: new FrameLatency(),
  };
}

/** One more of those that are counted per reason. */
export function countReason(counts: Map<string, number>, reason: string): void {
  counts.set(reason, (counts.get(reason) ?? 0) + 1);
}

export function countRejection({ updatesRejected }: Counters, reason: string): void {
  countReason(updatesRejected, reason);
}
