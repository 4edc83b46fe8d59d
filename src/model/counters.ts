import { newLatencyCounts } from './frame_latency.js';
import { addRequests, countRouteRequest, type RouteRequests } from './rest_requests.js';
import { addHistogram, type Histogram } from './text_format.js';

/**
 * The counts of a thread since the start of the service. The counts are plain data. The code of the hot paths increases them, and
 * `/metrics` adds up the counts of all threads.
 */
export interface Counters {
  /** The number of encoded frames. */
  framesMade: number;
  /** The number of frames that the service did not send because their readers were slow. */
  framesSkipped: number;
  /** The number of ticks on which a group received no frame, because the service was late. */
  ticksSkipped: number;
  /** The number of connections that the service closed with 1013. */
  slowConsumersClosed: number;
  publishMessages: number;
  updatesAccepted: number;
  /**
   * The number of rejected updates by reason. A message that was refused as a whole counts once, because its updates were not read. The
   * reasons are a few fixed texts of the checks.
   */
  readonly updatesRejected: Map<string, number>;
  /** Refused logins by reason. */
  readonly loginsRefused: Map<string, number>;
  /** The number of connections that the service ended at once, because their client address had too many. */
  connectionsRefused: number;
  /** The number of refusals because a budget was used up, by the key of the limit and then by the caller's name. */
  readonly budgetRefusals: Map<string, Map<string, number>>;
  aggregatesSigned: number;
  /** The number of aggregates whose signature failed. */
  signingFailures: number;
  /**
   * The number of due aggregates that were never signed, because newer aggregates replaced them. The service could not sign them in
   * time, because the mark of signed times was not on disk.
   */
  aggregatesDropped: number;
  /** The number of updates that moved a price by `delta_percent` while their asset had used up its allowance. */
  deltasHeld: number;
  /** The number of times that an asset lost its price, because too few publishers had fresh inputs. */
  assetsEnded: number;
  /** The number of replies that the service dropped because the publisher did not read its socket. */
  repliesDropped: number;
  /** The number of times that a serving thread needed a complete snapshot because it was too far behind. */
  threadOverruns: number;
  /** The number of serving threads that died or hung. */
  threadFailures: number;
  /** The number of stalls: the event loop was busy for so long that a tick was late by more than half a second. */
  eventLoopStalls: number;
  readonly frameLatency: Histogram;
  /** The requests by path of the REST API. `other` counts unknown paths. */
  readonly restRequests: Map<string, RouteRequests>;
}

export function createCounters(): Counters {
  return {
    publishMessages: 0,
    updatesAccepted: 0,
    updatesRejected: new Map(),
    loginsRefused: new Map(),
    connectionsRefused: 0,
    budgetRefusals: new Map(),
    aggregatesSigned: 0,
    signingFailures: 0,
    aggregatesDropped: 0,
    deltasHeld: 0,
    assetsEnded: 0,
    repliesDropped: 0,
    framesMade: 0,
    framesSkipped: 0,
    ticksSkipped: 0,
    slowConsumersClosed: 0,
    threadOverruns: 0,
    threadFailures: 0,
    eventLoopStalls: 0,
    frameLatency: newLatencyCounts(),
    restRequests: new Map(),
  };
}

/** Adds up the counts of several threads. */
export function sumOf(all: readonly Counters[]): Counters {
  const sum = createCounters();
  for (const counters of all) {
    for (const [name, value] of Object.entries(counters)) {
      if (typeof value === 'number') (sum as unknown as Record<string, number>)[name]! += value;
      else if (value instanceof Map && name !== 'restRequests')
        addCounts((sum as unknown as Record<string, Counts>)[name]!, value);
    }
    addHistogram(sum.frameLatency, counters.frameLatency);
    addRequests(sum.restRequests, counters.restRequests);
  }
  return sum;
}

/** The counts by name, or by two names in nested maps. */
type Counts = Map<string, number | Counts>;

function addCounts(sum: Counts, counts: Counts): void {
  for (const [name, count] of counts) {
    const before = sum.get(name);
    if (typeof count === 'number') sum.set(name, ((before as number | undefined) ?? 0) + count);
    else {
      const inner = (before as Counts | undefined) ?? new Map();
      addCounts(inner, count);
      sum.set(name, inner);
    }
  }
}

/** Adds one to the count of a reason. */
export function countReason(counts: Map<string, number>, reason: string): void {
  counts.set(reason, (counts.get(reason) ?? 0) + 1);
}

export function countRejection({ updatesRejected }: Counters, reason: string): void {
  countReason(updatesRejected, reason);
}

/** The largest number of callers with separate counts of refusals. The map needs a limit, because each reload may add new names. */
const CALLERS_MAX = 1_000;
const OTHER_CALLERS = 'others';

/**
 * Counts a refusal because a caller's budget was used up.
 * @param limit the key of the limit
 */
export function countBudgetRefusal({ budgetRefusals }: Counters, limit: string, caller: string): void {
  let byCaller = budgetRefusals.get(limit);
  if (byCaller === undefined) {
    byCaller = new Map();
    budgetRefusals.set(limit, byCaller);
  }
  countReason(byCaller, byCaller.has(caller) || byCaller.size < CALLERS_MAX ? caller : OTHER_CALLERS);
}

/**
 * Counts an answered request of the REST API.
 * @param path the path of a route, or `other`
 */
export function countRequest(
  { restRequests }: Counters,
  path: string,
  status: number,
  durationSeconds: number,
): void {
  countRouteRequest(restRequests, path, status, durationSeconds);
}
