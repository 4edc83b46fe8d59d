import { Client } from './client.js';
import { NODE } from './connect/node_platform.js';
import type { ClientOptions } from './prices/client_context.js';
import { StreamClient } from './prices/stream_client.js';

/**
 * The client that Node loads from the client's own package. The only difference from `index.ts` is that the sockets of this
 * client log in with the header.
 */

export * from './index.js';

/**
 * Makes a client of one or more services. In Node the client logs in to each WebSocket with the header `Authorization`, so it
 * can publish.
 * @throws TypeError or RangeError for wrong options
 */
export function createClient(options: ClientOptions): Client {
  return new Client(options, NODE);
}

/**
 * Makes a client that only streams. In Node the client logs in to each WebSocket with the header `Authorization`.
 * @throws TypeError or RangeError for wrong options
 */
export function createStreamClient(options: ClientOptions): StreamClient {
  return new StreamClient(options, NODE);
}
