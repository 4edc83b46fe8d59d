import { systemClock } from '../../src/clock/clock.js';
import type { AsyncApiDocument } from '../../src/server/documents/asyncapi.js';
import type { OpenApiDocument } from '../../src/server/documents/openapi.js';
import { openLoopTurns } from '../../src/server/rest/loop_turns.js';
import type { Route } from '../../src/server/rest/route.js';
import { createRoutes } from '../../src/server/routes/index.js';
import { DOCUMENT_PATHS } from '../../src/wire/paths.js';
import { DEFAULT_SERVICE_NAME } from '../../src/wire/service_name.js';
import type { Documents } from './reference_sections.js';

/** Returns the routes of a service without assets. */
export function routesOf(serviceName: string): ReadonlyMap<string, Route> {
  return createRoutes({
    clock: systemClock(),
    announcements: [],
    simulation: false,
    listed: [],
    symbols: [],
    findAsset: () => undefined,
    prices: { latest: () => undefined, latestVersion: () => 0 },
    past: {
      inForce: async () => undefined,
      reaches: async () => true,
      gapAt: async () => undefined,
      keptFrom: async () => undefined,
      blocks: () => ({ async *[Symbol.asyncIterator]() {}, nextFew: async () => [], continueAt() {} }),
    },
    newest: () => undefined,
    pastTurns: openLoopTurns(),
    onPastDamage: () => {},
    logFiles: { proofOf: async () => ({ lacks: 'log', reason: 'there is no public log here' }) },
    readCandles: () => 'too many',
    candleDays: () => ({ first: 0, end: 0 }),
    sealedDays: () => ({ first: 0, end: 0 }),
    calendarOf: () => undefined,
    serviceName,
    taxonomyId: 1,
    statementOf: () => undefined,
    oracleId: 'servc',
    nodes: () => ({ self: 0, nodes: [], signers: [] }),
    encodedAssetId: (symbol) => symbol,
    assetsPerRequestMax: 100,
    candlesPerRequestMax: 50_000,
    rangeRowsMax: 100_000,
    deployments: [],
    pushedAssets: {},
    publisherByKey: () => undefined,
    publicUrl: () => 'ws://localhost',
    onPublisherMetadata: () => {},
    tickets: { issue: () => undefined },
  });
}

/** Returns the answer of a route that needs no token. */
export function bodyOf(routes: ReadonlyMap<string, Route>, path: string): string {
  const result = routes.get(path)!.handle(new Map(), undefined);
  if (!('data' in result)) throw new Error(`no answer of ${path}`);
  return result.data;
}

/** Returns the documents of a service with the default name. */
export function describedDocuments(): Documents {
  const routes = routesOf(DEFAULT_SERVICE_NAME);
  return {
    rest: JSON.parse(bodyOf(routes, DOCUMENT_PATHS.openApi)) as OpenApiDocument,
    sockets: JSON.parse(bodyOf(routes, DOCUMENT_PATHS.asyncApi)) as AsyncApiDocument,
  };
}
