import type { Route } from '../rest/route.js';
import { keptSignedPrice } from '../schemas/past_schemas.js';
import { aggregatedSignedPrice } from '../schemas/value_schemas.js';
import { documentRoutes } from './document_routes.js';
import { HistoryReader, type HistoryReaderOptions } from './history_reader.js';
import { type HistoryRouteOptions, historyRoutes } from './history_route.js';
import { type InstantRouteOptions, instantRoutes } from './instant_route.js';
import { type MarketStatusRouteOptions, marketStatusRoutes } from './market_status_route.js';
import { type MissedRouteOptions, missedRoutes } from './missed_route.js';
import { type NodeRouteOptions, nodeRoutes } from './nodes_route.js';
import { PastAccess } from './past_access.js';
import { type PriceRouteOptions, priceRoutes } from './price_routes.js';
import { type ProofRouteOptions, proofRoutes } from './proof_route.js';
import { type PublisherRouteOptions, publisherRoutes } from './publisher_routes.js';
import { type RangeRouteOptions, rangeRoutes } from './range_route.js';
import { type RecentRouteOptions, recentRoutes } from './recent_route.js';
import { type ReferenceRouteOptions, referenceRoutes } from './reference_routes.js';
import { type StreamTicketRouteOptions, streamTicketRoutes } from './stream_ticket_route.js';
import { type UdfRouteOptions, udfRoutes } from './udf_routes.js';

export type RouteOptions = PriceRouteOptions &
  RecentRouteOptions &
  InstantRouteOptions &
  RangeRouteOptions &
  MissedRouteOptions &
  ProofRouteOptions &
  HistoryRouteOptions &
  HistoryReaderOptions &
  MarketStatusRouteOptions &
  ReferenceRouteOptions &
  NodeRouteOptions &
  PublisherRouteOptions &
  StreamTicketRouteOptions &
  UdfRouteOptions;

/** Makes the routes of the service, by path. */
export function createRoutes(options: RouteOptions): ReadonlyMap<string, Route> {
  const signedPrice = aggregatedSignedPrice(options.serviceName);
  const keptPrice = keptSignedPrice(signedPrice);
  const past = new PastAccess(options);
  const history = new HistoryReader(options);
  const routes = [
    ...priceRoutes(options, signedPrice),
    ...recentRoutes(options, past, signedPrice),
    ...instantRoutes(options, past, keptPrice),
    ...rangeRoutes(options, past),
    ...missedRoutes(options, past),
    ...proofRoutes(options),
    ...historyRoutes(options, history),
    ...marketStatusRoutes(options),
    ...referenceRoutes(options),
    ...nodeRoutes(options),
    ...publisherRoutes(options),
    ...streamTicketRoutes(options),
    ...udfRoutes(options, history),
  ];
  return new Map([...routes, ...documentRoutes(routes, options.serviceName)]);
}
