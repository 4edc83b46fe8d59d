import { newLatencyCounts } from './frame_latency.js';
import { addRequests, countRouteRequest, type RouteRequests } from './rest_requests.js';
import { addHistogram, type Histogram } from './text_format.js';

/**
 * The counts of a thread since the start of the service. They are plain data: the hot paths add to them, and `/metrics` sums the
 * counts of all threads.
 */
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
  /** Rejected updates by reason. Reasons are the fixed texts of the checks, so there are few of them. */
  readonly updatesRejected: Map<string, number>;
  /** Refused logins by reason. */
  readonly loginsRefused: Map<string, number>;
  /** Refusals because a caller's budget was used up: by the key of the limit, then by the caller's name. */
  readonly budgetRefusals: Map<string, Map<string, number>>;
  aggregatesSigned: number;
  /** Aggregates that could not be signed. */
  signingFailures: number;
  /** Due aggregates that a newer one replaced while no time could be signed, because the mark of signed times was not on disk. */
  aggregatesDropped: number;
  /** Times that an asset lost its price because too few publishers had fresh inputs. */
  assetsEnded: number;
  /** Replies to publishers that do not read their socket. */
  repliesDropped: number;
  /** Times that a serving thread fell so far behind that it needed a complete snapshot. */
  threadOverruns: number;
  /** Serving threads that died or hung. */
  threadFailures: number;
  /** Times that the event loop was busy for so long that a tick was late by more than half a second. */
  eventLoopStalls: number;
  readonly frameLatency: Histogram;
  /** Requests by path of the REST API; `other` for unknown paths. */
  readonly restRequests: Map<string, RouteRequests>;
}

export function createCounters(): Counters {
  return {
    publishMessages: 0,
    updatesAccepted: 0,
    updatesRejected: new Map(),
    loginsRefused: new Map(),
    budgetRefusals: new Map(),
    aggregatesSigned: 0,
    signingFailures: 0,
    aggregatesDropped: 0,
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

/** Adds up the counts of some threads. */
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

/** Counts by one name, or by two. */
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

/** The number of callers whose refusals are counted separately. Reloads may always bring new names. */
const CALLERS_MAX = 1_000;
const OTHER_CALLERS = 'others';

/** Counts a refusal because a caller's budget was used up. @param limit the key of the limit */
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
 * @param path of a route, or `other`
 */
export function countRequest(
  { restRequests }: Counters,
  path: string,
  status: number,
  durationSeconds: number,
): void {
  countRouteRequest(restRequests, path, status, durationSeconds);
}
