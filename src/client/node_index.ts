import { Client } from './client.js';
import { NODE } from './connect/node_platform.js';
import type { ClientOptions } from './prices/client_context.js';
import { StreamClient } from './prices/stream_client.js';

/** The client as Node loads it from the client's own package: the same, but its sockets log in with the header. */

export * from './index.js';

/**
 * Makes a client of one or more services. In Node it logs in to each WebSocket with the header `Authorization`, and can publish.
 * @throws TypeError or RangeError for wrong options
 */
export function createClient(options: ClientOptions): Client {
  return new Client(options, NODE);
}

/**
 * Makes a client that only streams. In Node it logs in to each WebSocket with the header `Authorization`.
 * @throws TypeError or RangeError for wrong options
 */
export function createStreamClient(options: ClientOptions): StreamClient {
  return new StreamClient(options, NODE);
}
