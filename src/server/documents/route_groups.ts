import { REST_PATHS } from '../../wire/paths.js';

/** A group of paths: a tag of the OpenAPI document, and a page of the site of documents. */
export interface RouteGroup {
  readonly title: string;
  readonly description: string;
  /** The starts of the group's paths. */
  readonly starts: readonly string[];
}

/** The groups by the name of their page. A path belongs to the first group that fits. */
export const ROUTE_GROUPS = {
  prices: {
    title: 'Prices',
    description: 'Signed prices: the newest, those of an instant, of a range, and their proofs.',
    starts: ['/v1/prices/'],
  },
  charts: {
    title: 'History and charts',
    description: 'Candles, market hours, and the data feed of TradingView. Nothing of this is signed.',
    starts: ['/udf/', '/v1/tradingview/', REST_PATHS.candles, REST_PATHS.marketStatus],
  },
  streams: {
    title: 'Streams',
    description: 'Prices as they change, over WebSockets and as server-sent events.',
    starts: ['/v1/stream'],
  },
  publishing: {
    title: 'Publishing',
    description: 'The way of a publisher: where to connect, how to sign, and what becomes of an update.',
    starts: ['/v1/publisher/', '/v1/registry/'],
  },
  service: {
    title: 'Assets, keys and nodes',
    description:
      'The catalogue, the keys that sign, the algorithms, the nodes and the documents of a service.',
    starts: ['/'],
  },
} as const satisfies Record<string, RouteGroup>;

export type RouteGroupName = keyof typeof ROUTE_GROUPS;

/** Returns the group of a path of the REST API. */
export function groupOf(path: string): RouteGroupName {
  const found = Object.entries<RouteGroup>(ROUTE_GROUPS).find(([, { starts }]) =>
    starts.some((start) => path.startsWith(start)),
  );
  return found![0] as RouteGroupName;
}
