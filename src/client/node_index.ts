import { Client } from './client.js';
import { NODE } from './connect/node_platform.js';
import type { ClientOptions } from './prices/client_context.js';
import { StreamClient } from './prices/stream_client.js';
import { QuorumClient } from './quorum/quorum_client.js';
import type { QuorumClientOptions } from './quorum/quorum_options.js';

/**
 * The client that Node loads from the client's own package. The only difference from `index.ts` is that the sockets of this
 * client log in with the header.
 */

export * from './index.js';

/**
 * Makes a client of one or more services, or with `quorum` a client that compares the prices of several operators. In Node the client
 * logs in to each WebSocket with the header `Authorization`, so it can publish.
 * @throws TypeError or RangeError for wrong options
 */
export function createClient(options: ClientOptions): Client;
export function createClient(options: QuorumClientOptions): QuorumClient;
export function createClient(options: ClientOptions | QuorumClientOptions): Client | QuorumClient {
  return 'quorum' in options ? new QuorumClient(options, NODE) : new Client(options, NODE);
}

/**
 * Makes a client that only streams. In Node the client logs in to each WebSocket with the header `Authorization`.
 * @throws TypeError or RangeError for wrong options
 */
export function createStreamClient(options: ClientOptions): StreamClient {
  return new StreamClient(options, NODE);
}
