import type { Route } from '../rest/route.js';
import { documentRoutes } from './documents.js';
import { type HistoryRouteOptions, historyRoutes } from './history.js';
import { type MarketStatusRouteOptions, marketStatusRoutes } from './market_status.js';
import { type NodeRouteOptions, nodeRoutes } from './nodes.js';
import { type PriceRouteOptions, priceRoutes } from './prices.js';
import { type PublisherRouteOptions, publisherRoutes } from './publishers.js';
import { type ReferenceRouteOptions, referenceRoutes } from './reference.js';
import { type StreamTicketRouteOptions, streamTicketRoutes } from './stream_ticket.js';
import { type UdfRouteOptions, udfRoutes } from './udf.js';

export type RouteOptions = PriceRouteOptions &
  HistoryRouteOptions &
  MarketStatusRouteOptions &
  ReferenceRouteOptions &
  NodeRouteOptions &
  PublisherRouteOptions &
  StreamTicketRouteOptions &
  UdfRouteOptions;

/** What the service answers under each path. */
export function createRoutes(options: RouteOptions): ReadonlyMap<string, Route> {
  const routes = [
    ...priceRoutes(options),
    ...historyRoutes(options),
    ...marketStatusRoutes(options),
    ...referenceRoutes(options),
    ...nodeRoutes(options),
    ...publisherRoutes(options),
    ...streamTicketRoutes(options),
    ...udfRoutes(options),
  ];
  return new Map([...routes, ...documentRoutes(routes, options.serviceName)]);
}
