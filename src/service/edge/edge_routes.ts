import type { Logger } from 'pino';
import type { Config } from '../../config/config.js';
import type { StoreReader } from '../../log/store/reader.js';
import type { Simulated } from '../../model/asset.js';
import type { Clock } from '../../model/time.js';
import type { TicketIssuer } from '../../server/access/ticket_issuer.js';
import type { Route } from '../../server/rest/route.js';
import { createRoutes } from '../../server/routes/index.js';
import type { EdgePast } from './read_past.js';
import type { ServedPrices } from './served_prices.js';
import type { ServedSettings } from './served_settings.js';
import type { SignedStatements } from './signed_statements.js';

export interface EdgeRoutesOptions {
  /** The configuration at the start, for the parts that a reload does not change. */
  readonly config: Pick<Config, 'service' | 'limits'>;
  readonly served: ServedSettings;
  readonly prices: ServedPrices;
  readonly store: StoreReader;
  readonly past: EdgePast;
  readonly tickets: TicketIssuer;
  readonly statements: SignedStatements;
  readonly simulation: Simulated;
  readonly encodedAssetId: (symbol: string) => string;
  readonly publicUrl: () => string;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'info'>;
}

/** Makes the REST routes of an edge for its current settings. */
export function edgeRoutes(options: EdgeRoutesOptions): ReadonlyMap<string, Route> {
  const { served, prices, store, past, tickets, logger } = options;
  const { service, limits } = options.config;
  const { catalogue, markets, config } = served;
  return createRoutes({
    clock: options.clock,
    announcements: config.announcements,
    simulation: options.simulation,
    listed: catalogue.listed,
    symbols: [...new Set(catalogue.listed.map(({ symbol }) => symbol))],
    findAsset: (symbol, signatureType) => catalogue.findAsset(symbol, signatureType),
    publisherByKey: (type, key) => catalogue.publisherByKey(type, key),
    prices: {
      latest: (asset) => prices.latest(asset),
      latestVersion: () => prices.latestVersion,
    },
    past: past.past,
    logFiles: past.logFiles,
    pastTurns: past.pastTurns,
    onPastDamage: past.onPastDamage,
    older: past.older,
    newest: (asset) => store.newest(asset),
    readCandles: (asset, resolution, fromS, toS) =>
      store.history(asset, resolution, fromS, toS, limits.candlesPerRequest),
    candleDays: (asset) => store.candleDays(asset),
    sealedDays: (asset) => store.sealedDays(asset),
    calendarOf: (asset) => markets.calendarOf(asset),
    serviceName: service.name,
    taxonomyId: service.taxonomyId,
    statementOf: (assets) => options.statements.of(assets),
    oracleId: service.oracleId,
    nodes: () => served.nodes,
    encodedAssetId: options.encodedAssetId,
    assetsPerRequestMax: limits.assetsPerRequest,
    candlesPerRequestMax: limits.candlesPerRequest,
    rangeRowsMax: limits.rangeRows,
    deployments: config.deployments,
    pushedAssets: config.pushedAssets,
    publicUrl: options.publicUrl,
    tickets,
    onPublisherMetadata: (about) => logger.info(about, 'publisher metadata'),
  });
}
