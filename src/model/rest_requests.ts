import { addHistogram, countDuration, type Histogram, newHistogram } from './text_format.js';

/** The counts of one route's requests. */
export interface RouteRequests {
  readonly byStatus: Map<number, number>;
  readonly durations: Histogram;
}

/**
 * The upper limits of the histogram's buckets, in seconds. Most answers take microseconds. A long history takes
 * milliseconds.
 */
export const REQUEST_BOUNDS_S = [0.0001, 0.001, 0.01, 0.1, 1] as const;

/** Counts a request of a route. The API has only a few routes and statuses, so the maps stay small. */
export function countRouteRequest(
  routes: Map<string, RouteRequests>,
  path: string,
  status: number,
  seconds: number,
): void {
  const { byStatus, durations } = requestsOf(routes, path);
  byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
  countDuration(durations, REQUEST_BOUNDS_S, seconds);
}

export function addRequests(
  sum: Map<string, RouteRequests>,
  requests: ReadonlyMap<string, RouteRequests>,
): void {
  for (const [path, { byStatus, durations }] of requests) {
    const total = requestsOf(sum, path);
    for (const [status, count] of byStatus)
      total.byStatus.set(status, (total.byStatus.get(status) ?? 0) + count);
    addHistogram(total.durations, durations);
  }
}

function requestsOf(routes: Map<string, RouteRequests>, path: string): RouteRequests {
  let requests = routes.get(path);
  if (requests === undefined) {
    requests = { byStatus: new Map(), durations: newHistogram(REQUEST_BOUNDS_S) };
    routes.set(path, requests);
  }
  return requests;
}
