import { Validator } from '@seriousme/openapi-schema-validator';
import { test } from 'tap';
import { bodyOf, routesOf } from '../../../scripts/site/described_routes.js';
import { EVENT_STREAM_ROUTE } from '../../../src/server/documents/event_stream_route.js';
import {
  type OpenApiDocument,
  openApiDocument,
  operationsOf,
} from '../../../src/server/documents/openapi.js';
import type { DescribedRoute } from '../../../src/server/rest/route.js';
import { EVENTS_PATH } from '../../../src/wire/paths.js';
import { danglingReferences } from './checker.js';

const routes = routesOf('service');
const document = JSON.parse(bodyOf(routes, '/openapi.json')) as OpenApiDocument;
const operationAt = (path: string) => operationsOf(document).find((one) => one.path === path)!.operation;
const loginHeaders = { loginKey: [], loginTime: [], loginSignature: [], loginType: [] };
const securityOf = { open: [], token: undefined, login: [loginHeaders] };

test('the document is valid OpenAPI 3.1', async (t) => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(structuredClone(document));
  t.ok(valid, JSON.stringify(errors));
  t.equal(validator.version, '3.1');
  t.same(danglingReferences(document), []);
  const names = operationsOf(document).map(({ operation }) => operation.operationId);
  t.equal(new Set(names).size, names.length, 'operations have names of their own');
});

test('it has every route with its parameters and statuses, and nothing else', async (t) => {
  const described = new Map<string, DescribedRoute>([...routes, [EVENTS_PATH, EVENT_STREAM_ROUTE]]);
  t.same(Object.keys(document.paths).sort(), [...described.keys()].sort());
  for (const [path, route] of described) {
    const { parameters, responses, security, summary } = operationAt(path);
    t.equal(summary, route.summary, path);
    t.same(
      parameters.map(({ name, required }) => [name, required]),
      Object.entries(route.parameters).map(([name, { required }]) => [name, required]),
      path,
    );
    t.same(security, securityOf[route.access], `${path}: who may ask`);
    const body = route.method === 'POST' ? [413] : [];
    const access = route.access === 'open' ? [] : [401, 403];
    const statuses = [200, 400, 429, 500, ...route.errors, ...access, ...body];
    t.same(
      Object.keys(responses),
      [...new Set(statuses)].sort((a, b) => a - b),
      path,
    );
  }
});

test('wire identifiers carry the name of the service', async (t) => {
  const other = openApiDocument(routesOf('acme'));
  t.ok(other.paths['/v0/deployments/acme_pushed_assets']);
  t.ok(other.components.schemas['AggregatedSignedPrice']?.properties?.['acme_signed_price']);
  t.notMatch(JSON.stringify(other), 'service_signed_price');
});
