import type { z } from 'zod';
import type { Scope } from '../../config/config.js';
import type { Caller } from '../access/logins.js';
import type { PublisherLogin } from '../access/publisher_login_check.js';
import type { Token } from '../access/tokens.js';
import { missingFault } from '../http/query.js';
import type { RouteError, RouteResult } from './route_result.js';

export type { RouteAnswer, RouteError, RouteResult } from './route_result.js';

/** A query parameter, with its documentation and the schema that reads its text. */
export interface Parameter<T = unknown> {
  readonly description: string;
  readonly required: boolean;
  /** The schema of the decoded text. */
  readonly schema: z.ZodType<T, string>;
}

export type ParameterTable = Readonly<Record<string, Parameter>>;

type Values<P extends ParameterTable> = {
  readonly [K in keyof P]: P[K] extends {
    readonly required: true;
    readonly schema: z.ZodType<infer T, string>;
  }
    ? T
    : P[K] extends { readonly schema: z.ZodType<infer T, string> }
      ? T | undefined
      : never;
};

/** The facts of a path of the REST API that the documentation shows. */
export interface DescribedRoute {
  readonly summary: string;
  readonly method: 'GET' | 'POST';
  readonly access: RouteAccess;
  /** The scope that a token needs for the route. */
  readonly scope: Scope;
  readonly parameters: ParameterTable;
  /** The schema of `data`, or of the body of a raw route. */
  readonly response: z.ZodType;
  /** The content type of a body that the answer does not wrap in `data`. */
  readonly raw: 'application/json' | 'application/x-ndjson' | 'text/plain' | 'text/event-stream' | undefined;
  /** The error statuses of this route, in addition to the error statuses of every route. */
  readonly errors: readonly RouteError['status'][];
  /** Headers of an answer with 200. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A path of the REST API. */
export interface Route extends DescribedRoute {
  /** @param body the body of a POST */
  handle(query: ReadonlyMap<string, string>, caller: Caller | undefined, body?: string): RouteResult;
}

/**
 * The callers that a route admits.
 * - `open`: everyone; the rate limit applies per client address.
 * - `token`: holders of a token.
 * - `login`: publishers that log in with a signature.
 */
export type RouteAccess = 'open' | 'token' | 'login';

interface RouteDefinition<P extends ParameterTable> {
  readonly summary: string;
  readonly parameters?: P;
  readonly response: z.ZodType;
  readonly raw?: Route['raw'];
  readonly errors?: Route['errors'];
  readonly headers?: Route['headers'];
}

/** Makes a route for callers with a token. The token needs the scope `rest`, unless the route names another scope. */
export function tokenRoute<P extends ParameterTable>(
  definition: RouteDefinition<P> & {
    readonly scope?: Scope;
    handle(values: Values<P>, token: Token): RouteResult;
  },
): Route {
  const route = buildRoute(definition, 'token', (values, caller) =>
    definition.handle(values, caller as Token),
  );
  return { ...route, scope: definition.scope ?? route.scope };
}

/** Makes a route for everyone. */
export function openRoute<P extends ParameterTable>(
  definition: RouteDefinition<P> & { handle(values: Values<P>): RouteResult },
): Route {
  return buildRoute(definition, 'open', definition.handle);
}

/** Makes a route for publishers that log in with a signature. */
export function loginRoute<P extends ParameterTable>(
  definition: RouteDefinition<P> & {
    readonly method: Route['method'];
    handle(values: Values<P>, login: PublisherLogin, body: string): RouteResult;
  },
): Route {
  const handle = (values: Values<P>, caller: Caller | undefined, body: string) =>
    definition.handle(values, caller as PublisherLogin, body);
  return { ...buildRoute(definition, 'login', handle), method: definition.method };
}

function buildRoute<P extends ParameterTable>(
  { summary, parameters = {} as P, response, raw, errors = [], headers = {} }: RouteDefinition<P>,
  access: RouteAccess,
  handle: (values: Values<P>, caller: Caller | undefined, body: string) => RouteResult,
): Route {
  const entries = Object.entries(parameters);
  return {
    summary,
    method: 'GET',
    access,
    scope: 'rest',
    parameters,
    response,
    raw,
    errors,
    headers,
    handle(query, caller, body = '') {
      const values: Record<string, unknown> = {};
      for (const [name, { schema, required }] of entries) {
        const text = query.get(name);
        if (text === undefined) {
          if (required) return { status: 400, error: missingFault(name, query, Object.keys(parameters)) };
          continue;
        }
        const read = schema.safeParse(text);
        if (!read.success) return { status: 400, error: `${name} ${read.error.issues[0]!.message}` };
        values[name] = read.data;
      }
      return handle(values as Values<P>, caller, body);
    },
  };
}
