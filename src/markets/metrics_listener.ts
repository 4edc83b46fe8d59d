import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ADMIN_PATHS } from '../wire/paths.js';

/** The largest number of open connections: enough for a few Prometheus servers. */
const CONNECTIONS_MAX = 32;
const REQUEST_MS_MAX = 5_000;

export interface MetricsListener {
  readonly port: number;
  close(): void;
}

/**
 * Serves a text at `/metrics`, to Prometheus.
 * @throws Error when the address cannot be used
 */
export async function listenForMetrics(
  host: string,
  port: number,
  text: () => string,
): Promise<MetricsListener> {
  const server = createServer({ headersTimeout: REQUEST_MS_MAX, requestTimeout: REQUEST_MS_MAX });
  server.maxConnections = CONNECTIONS_MAX;
  server.on('request', ({ method, url }, response) => {
    const isFound = url?.split('?')[0] === ADMIN_PATHS.metrics;
    const isRead = method === 'GET' || method === 'HEAD';
    if (!isFound || !isRead) return void response.writeHead(isFound ? 405 : 404).end();
    response.setHeader('Content-Type', 'text/plain; version=0.0.4; charset=utf-8');
    response.end(method === 'HEAD' ? undefined : text());
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
