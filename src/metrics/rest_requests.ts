import {
  addHistogram,
  countDuration,
  type Histogram,
  histogramText,
  metricText,
  newHistogram,
} from './text_format.js';

/** The requests of one route. */
export interface RouteRequests {
  readonly byStatus: Map<number, number>;
  readonly durations: Histogram;
}

/** The upper bounds of the histogram's buckets, in seconds. Most answers take microseconds, a long history milliseconds. */
export const REQUEST_BOUNDS_S = [0.0001, 0.001, 0.01, 0.1, 1] as const;

/** Routes are those of the API, and statuses those that it answers with, so there are few of either. */
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

/** The two metrics of REST requests in the text format. */
export function restRequestsText(routes: ReadonlyMap<string, RouteRequests>): string {
  const answered = [...routes].flatMap(([route, { byStatus }]) =>
    [...byStatus].map(([status, value]) => ({ labels: { route, status }, value })),
  );
  const durations = [...routes].map(([route, one]) => ({ labels: { route }, histogram: one.durations }));
  return (
    metricText('tickseal_rest_requests_total', 'counter', 'REST requests that were answered.', answered) +
    histogramText(
      'tickseal_rest_request_duration_seconds',
      'How long the service took to make the answer to a REST request.',
      REQUEST_BOUNDS_S,
      durations,
    )
  );
}

function requestsOf(routes: Map<string, RouteRequests>, path: string): RouteRequests {
  let requests = routes.get(path);
  if (requests === undefined) {
    requests = { byStatus: new Map(), durations: newHistogram(REQUEST_BOUNDS_S) };
    routes.set(path, requests);
  }
  return requests;
}
