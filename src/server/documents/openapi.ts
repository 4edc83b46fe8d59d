import { z } from 'zod';
import type { DescribedRoute, Parameter, RouteAccess } from '../rest/route.js';
import { goneResponse } from '../schemas/past_schemas.js';
import { errorResponse } from '../schemas/value_schemas.js';
import { API_VERSION, EXACT_NUMBERS, LOGIN_SCHEMES, TOKEN_SCHEME } from './about.js';
import { documentSchemas, type JsonSchema } from './json_schema.js';
import { groupOf, ROUTE_GROUPS } from './route_groups.js';

export const OPENAPI_VERSION = '3.1.0';

export type OpenApiDocument = ReturnType<typeof openApiDocument>;
export type OpenApiOperation = ReturnType<typeof operationOf>;

/** The operation of a path. Each path has a single method. */
export interface PathItem {
  readonly get?: OpenApiOperation;
  readonly post?: OpenApiOperation;
}

function pathItem({ method }: DescribedRoute, described: OpenApiOperation): PathItem {
  return method === 'GET' ? { get: described } : { post: described };
}

/** Lists every operation of a document, with its path and method. */
export function operationsOf({ paths }: OpenApiDocument) {
  return Object.entries(paths).map(([path, { get, post }]) => ({
    path,
    method: get === undefined ? 'POST' : 'GET',
    operation: (get ?? post)!,
  }));
}

/** Makes the OpenAPI 3.1 document of the REST API, from the descriptions in the routes. */
export function openApiDocument(routes: ReadonlyMap<string, DescribedRoute>) {
  const bodies = new Map([...routes].map(([path, route]) => [path, bodySchema(route)]));
  const parameters = [...routes.values()].flatMap((route) => Object.values(route.parameters));
  const schemas = documentSchemas([
    errorResponse,
    goneResponse,
    ...bodies.values(),
    ...parameters.map(({ schema }) => schema),
  ]);
  const paths = [...routes].map(([path, route]) => {
    const of = (schema: z.ZodType) => schemas.of(schema);
    const described = operationOf(path, route, of(bodies.get(path)!), of);
    return [path, pathItem(route, described)] as const;
  });
  return {
    openapi: OPENAPI_VERSION,
    info: {
      title: 'tickseal REST API',
      version: API_VERSION,
      description: DESCRIPTION,
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'Where this document was read from' }],
    security: [{ token: [] }],
    tags: Object.entries(ROUTE_GROUPS).map(([name, { description }]) => ({ name, description })),
    paths: Object.fromEntries(paths),
    components: {
      schemas: schemas.components,
      responses: Object.fromEntries(
        Object.values(FAILURES).map(({ name, ...failure }) => [
          name,
          failureResponse(schemas.of(failure.schema ?? errorResponse), failure),
        ]),
      ),
      headers: HEADERS,
      securitySchemes: { token: { type: 'apiKey', ...TOKEN_SCHEME }, ...LOGIN_SCHEMES },
    },
  };
}

const DESCRIPTION = `Signed prices, each the aggregate of prices signed by several publishers.

- Successful bodies are JSON with the single field \`data\`, except where a path says otherwise. Every error body is an \
\`ErrorResponse\`.
- ${EXACT_NUMBERS}
- Requests carry the header \`Authorization: Basic <TOKEN>\`. Those of a token are counted together; paths that need no \
token are counted per client address.
- Web pages of the origins that the operator allows may read every answer (CORS), with the header \`Authorization\` and without \
credentials of the browser.
- Answers of paths that need a token or a login are for their caller only, errors too: they carry \`Cache-Control: private, no-cache\` \
and \`Vary: Authorization\`.
- Any other path is answered 404, any method but a path's own 405 with \`Allow\`, and a request with a body 400, except where a \
path takes one.`;

const HEADERS = {
  'RateLimit-Limit': headerSchema('integer', 'Requests per second that the caller may make, also at once'),
  'RateLimit-Remaining': headerSchema('integer', 'Requests that may follow at once'),
  'RateLimit-Reset': headerSchema('integer', 'Seconds until the whole allowance is there again'),
  'Retry-After': headerSchema('integer', 'Seconds until a request is allowed again'),
  'WWW-Authenticate': headerSchema('string', 'The scheme that the Authorization header takes'),
  Allow: headerSchema('string', 'The methods that are served'),
};
type HeaderName = keyof typeof HEADERS;

function headerSchema(type: 'integer' | 'string', description: string) {
  return { description, schema: { type } };
}

const RATE_LIMIT_HEADERS: readonly HeaderName[] = [
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
];

interface FailureAnswer {
  readonly description: string;
  readonly headers: readonly HeaderName[];
  /** The schema of the body. Default: `errorResponse`. */
  readonly schema?: z.ZodType;
}

/**
 * The answers other than 200. `EVERY_ROUTE` lists the answers that every route can give. `EVERY_TOKEN_ROUTE` lists the answers of
 * routes that take a token.
 */
const FAILURES: Readonly<Record<number, FailureAnswer & { readonly name: string }>> = {
  400: {
    name: 'BadRequest',
    description: 'A parameter is missing, repeated, malformed or out of range; the error names it.',
    headers: RATE_LIMIT_HEADERS,
  },
  401: {
    name: 'Unauthorized',
    description:
      'The access token is missing, malformed, repeated or not known; or the login by signature is missing, malformed, repeated, changed or out of its time.',
    headers: ['WWW-Authenticate'],
  },
  403: {
    name: 'Forbidden',
    description:
      'The access token is known, but has no right to this path or asset; or the publisher key is not listed.',
    headers: RATE_LIMIT_HEADERS,
  },
  404: { name: 'NotFound', description: 'There is nothing to answer with.', headers: RATE_LIMIT_HEADERS },
  405: {
    name: 'MethodNotAllowed',
    description: 'The method is not the one that the path serves.',
    headers: ['Allow'],
  },
  410: {
    name: 'Gone',
    description:
      'The time is before the signed prices that are kept, or in a part that was never stored, also by the other nodes of a cluster that answer; `kept_from` is when the next kept prices begin, in nanoseconds, and absent if that is unknown or there are none.',
    headers: RATE_LIMIT_HEADERS,
    schema: goneResponse,
  },
  413: { name: 'ContentTooLarge', description: 'The body is too long.', headers: [] },
  429: {
    name: 'TooManyRequests',
    description: 'There were too many requests.',
    headers: [...RATE_LIMIT_HEADERS, 'Retry-After'],
  },
  500: { name: 'InternalError', description: 'A fault of the service.', headers: RATE_LIMIT_HEADERS },
  503: {
    name: 'ServiceUnavailable',
    description: 'The service is too busy, or the nodes of its cluster that keep older prices are.',
    headers: RATE_LIMIT_HEADERS,
  },
};
const SECURITY: Readonly<Record<RouteAccess, { readonly security?: readonly object[] }>> = {
  open: { security: [] },
  token: {},
  login: { security: [Object.fromEntries(Object.keys(LOGIN_SCHEMES).map((name) => [name, []]))] },
};
const EVERY_ROUTE = [400, 429, 500];
const EVERY_TOKEN_ROUTE = [...EVERY_ROUTE, 401, 403];

function failureResponse(schema: JsonSchema, { description, headers }: FailureAnswer) {
  return { description, headers: headerReferences(headers), content: { 'application/json': { schema } } };
}

function headerReferences(names: readonly HeaderName[]) {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function bodySchema({ raw, response, parameters }: DescribedRoute): z.ZodType {
  if (raw) return response;
  if (!('ignore_invalid' in parameters)) return z.strictObject({ data: response });
  const invalid = z
    .array(z.string())
    .optional()
    .describe('With `ignore_invalid=true`: the requested assets that `data` cannot have');
  return z.strictObject({ data: response, invalid });
}

function operationOf(
  path: string,
  route: DescribedRoute,
  body: JsonSchema,
  schemaOf: (schema: z.ZodType) => JsonSchema,
) {
  const statuses = new Set([
    ...(route.method === 'POST' ? [413] : []),
    ...(route.access === 'open' ? EVERY_ROUTE : EVERY_TOKEN_ROUTE),
    ...route.errors,
  ]);
  const failures = [...statuses].sort((a, b) => a - b);
  const own = Object.entries(route.headers).map(([name, value]) => [
    name,
    { schema: { type: 'string', const: value } },
  ]);
  const ok = {
    description: 'The answer',
    headers: {
      // A stream counts as a connection, not as a request.
      ...(route.raw === 'text/event-stream' ? {} : headerReferences(RATE_LIMIT_HEADERS)),
      ...Object.fromEntries(own),
    },
    content: { [route.raw ?? 'application/json']: { schema: body } },
  };
  return {
    operationId: path.slice(1).replaceAll(/\W+/g, '_'),
    tags: [groupOf(path)],
    summary: route.summary,
    ...SECURITY[route.access],
    ...(route.method === 'POST' && { requestBody: { content: { 'application/json': { schema: {} } } } }),
    parameters: Object.entries(route.parameters).map(([name, parameter]) =>
      queryParameter(name, parameter, schemaOf(parameter.schema)),
    ),
    responses: Object.fromEntries<typeof ok | { readonly $ref: string }>([
      ['200', ok],
      ...failures.map(
        (status) => [String(status), { $ref: `#/components/responses/${FAILURES[status]!.name}` }] as const,
      ),
    ]),
  };
}

function queryParameter(name: string, { description, required }: Parameter, schema: JsonSchema) {
  return { name, in: 'query', description, required, schema } as const;
}
