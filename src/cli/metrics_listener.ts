import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isLoopback } from '../config/loopback.js';
import { OwnHosts } from '../server/http/own_hosts.js';
import { ADMIN_PATHS } from '../wire/paths.js';

/** The largest number of open connections: enough for a few Prometheus servers. */
const CONNECTIONS_MAX = 32;
const REQUEST_MS_MAX = 5_000;
const FOREIGN_HOST =
  'the Host header is neither an IP address nor localhost nor the name at which this process listens\n';

export interface MetricsListener {
  readonly port: number;
  close(): void;
}

/**
 * Serves a text for Prometheus at `/metrics`. With `fault`, also serves `/livez` and `/readyz`; `/readyz` answers 503 during a fault.
 * On a loopback address, refuses requests for other names than {@link OwnHosts}: a web page could send them.
 * @param fault returns the reason why the process does not do its work; `undefined` while it works
 * @throws Error when the address cannot be used
 */
export async function listenForMetrics(
  host: string,
  port: number,
  text: () => string,
  fault?: () => string | undefined,
): Promise<MetricsListener> {
  const server = createServer({ headersTimeout: REQUEST_MS_MAX, requestTimeout: REQUEST_MS_MAX });
  server.maxConnections = CONNECTIONS_MAX;
  // A listener on another address is open to its network, whose Prometheus may know it by any name.
  const ownHosts = isLoopback(host) ? new OwnHosts([host]) : undefined;
  const bodyAt = (path: string | undefined): [status: number, body: string] | undefined => {
    if (path === ADMIN_PATHS.metrics) return [200, text()];
    if (fault === undefined) return undefined;
    if (path === ADMIN_PATHS.live) return [200, 'ok\n'];
    const reason = path === ADMIN_PATHS.ready ? fault() : undefined;
    if (path === ADMIN_PATHS.ready) return reason === undefined ? [200, 'ok\n'] : [503, `${reason}\n`];
    return undefined;
  };
  server.on('request', ({ method, url, headers }, response) => {
    if (headers.host !== undefined && ownHosts?.hasHeader(headers.host) === false)
      return void response.writeHead(421, { Connection: 'close' }).end(FOREIGN_HOST);
    const found = bodyAt(url?.split('?')[0]);
    const isRead = method === 'GET' || method === 'HEAD';
    if (found === undefined) return void response.writeHead(404).end();
    if (!isRead) return void response.writeHead(405, { Allow: 'GET, HEAD' }).end();
    response.statusCode = found[0];
    response.setHeader('Content-Type', 'text/plain; version=0.0.4; charset=utf-8');
    response.setHeader('Content-Length', Buffer.byteLength(found[1]));
    response.end(found[1]);
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
