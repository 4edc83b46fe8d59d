import { systemClock } from '../../src/clock/clock.js';
import type { AsyncApiDocument } from '../../src/server/documents/asyncapi.js';
import type { OpenApiDocument } from '../../src/server/documents/openapi.js';
import type { Route } from '../../src/server/rest/route.js';
import { createRoutes } from '../../src/server/routes/index.js';
import { DOCUMENT_PATHS } from '../../src/wire/paths.js';
import { DEFAULT_SERVICE_NAME } from '../../src/wire/service_name.js';
import type { Documents } from './reference_sections.js';

/** Returns the routes of a service without assets. Only those that need no token can be called. */
export function routesOf(serviceName: string): ReadonlyMap<string, Route> {
  const options = {
    clock: systemClock(),
    announcements: [],
    simulation: false,
    listed: [],
    symbols: [],
    serviceName,
    taxonomyId: 1,
    statementOf: () => undefined,
    oracleId: 'servc',
    assetsPerRequestMax: 100,
    candlesPerRequestMax: 50_000,
    rangeRowsMax: 100_000,
    deployments: [],
    pushedAssets: {},
    publicUrl: () => 'ws://localhost',
  };
  return createRoutes(options as unknown as Parameters<typeof createRoutes>[0]);
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
