import type uWS from 'uWebSockets.js';
import type { AdminConfig } from '../config/listen_section.js';
import { ADMIN_PATHS } from '../wire/paths.js';
import { OwnHosts } from './http/own_hosts.js';
import { failure, type RestResponse } from './http/rest_exchange.js';
import { createApp, listen, type OpenPort } from './uws/app.js';
import { methodFaultOf, writeLater, writeResponse } from './uws/http.js';
import { claimPort } from './uws/port_claim.js';
import { readRequest } from './uws/received_request.js';

/** The verdict on the last requested reload. */
interface LastReload {
  /** The number of reloads since the start. */
  readonly number: number;
  readonly isOk: boolean;
  /** The warnings of a reload that applied the file, or the reasons of one that did not. */
  readonly messages: readonly string[];
}

export interface AdminOptions {
  /** Returns the reasons why the service is not ready; empty when it is ready. */
  readonly notReady: () => readonly string[];
  /** Returns what will soon need the operator, although the service is ready. */
  readonly remarks: () => readonly string[];
  /** Returns the facts that a ready service shows: its version, the numbers of its formats, and the position of its log. */
  readonly facts: () => object;
  /** Returns the metrics in the Prometheus text format. */
  readonly metrics: () => Promise<string>;
  /** Returns the verdict on the last requested reload. */
  readonly lastReload: () => LastReload;
  /** True if another process listens on the port until this process takes over. */
  readonly sharesPort: boolean;
}

/**
 * Serves `/livez`, `/readyz` and `/metrics` without a token.
 * @throws Error when the address is in use
 */
export async function openAdmin(
  ws: typeof uWS,
  at: AdminConfig,
  { notReady, remarks, facts, metrics, lastReload, sharesPort }: AdminOptions,
): Promise<OpenPort> {
  const app = createApp(ws, at);
  const ownHosts = new OwnHosts([at.host, ...at.allowedHosts]);
  app.any('/*', (res, req) => {
    const { method, path, host } = readRequest(res, req);
    const fault =
      methodFaultOf(method) ?? (host === undefined || ownHosts.hasHeader(host) ? undefined : FOREIGN_HOST);
    if (fault !== undefined) {
      writeResponse(res, method, fault);
      return;
    }
    if (path === ADMIN_PATHS.metrics && method === 'GET') {
      writeLater(res, method, metricsResponse(metrics()));
      return;
    }
    if (path === ADMIN_PATHS.lastReload && method === 'GET') {
      writeResponse(res, method, verdictResponse(lastReload()));
      return;
    }
    writeResponse(res, method, answer(method, path, { notReady, remarks, facts }));
  });
  return listen(ws, app, { ...at, port: sharesPort ? at.port : await claimPort(at) });
}

/** The answer to a request for a name that others could let resolve to this machine. A web page of that name could read the answer. */
const FOREIGN_HOST: RestResponse = {
  ...failure(
    421,
    'the Host header is neither an IP address nor localhost, admin.host or one of admin.allowed_hosts',
  ),
  closeConnection: true,
};

const PATHS: readonly string[] = Object.values(ADMIN_PATHS);

function answer(
  method: string,
  path: string,
  { notReady, remarks, facts }: Pick<AdminOptions, 'notReady' | 'remarks' | 'facts'>,
): RestResponse {
  if (!PATHS.includes(path)) return failure(404, `no such path: this listener has ${PATHS.join(', ')}`);
  if (method !== 'GET') return failure(405, 'only GET is served here', [['Allow', 'GET']]);
  const reasons = path === ADMIN_PATHS.ready ? notReady() : [];
  const warnings = path === ADMIN_PATHS.ready ? remarks() : [];
  return reasons.length === 0
    ? {
        status: 200,
        headers: [],
        body: JSON.stringify({
          data: 'ok',
          ...(path === ADMIN_PATHS.ready && facts()),
          ...(warnings.length > 0 && { warnings }),
        }),
      }
    : { status: 503, headers: [], body: JSON.stringify({ error: reasons.join('; ') }) };
}

function verdictResponse({ number, isOk, messages }: LastReload): RestResponse {
  const data = { pid: process.pid, number, ok: isOk, messages };
  return { status: 200, headers: [], body: JSON.stringify({ data }) };
}

function metricsResponse(text: Promise<string>): Promise<RestResponse> {
  const contentType = 'text/plain; version=0.0.4; charset=utf-8';
  return text.then(
    (body) => ({ status: 200, headers: [], body, contentType }),
    () => failure(500, 'internal error'),
  );
}
