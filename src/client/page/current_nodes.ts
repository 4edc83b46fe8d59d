import { REST_PATHS } from '../../wire/paths.js';
import type { StreamClient } from '../prices/stream_client.js';
import { readNodes } from './answers.js';
import { NodeLog } from './node_log.js';
import { clockText } from './price_text.js';

/** The interval at which the nodes of a cluster are requested. */
const INTERVAL_MS = 3_000;

/**
 * The list of nodes, which is requested while the page is visible. If the service is a process without a cluster, the list is
 * requested once for each connection.
 */
export class CurrentNodes {
  readonly log = new NodeLog();
  readonly #client: StreamClient;
  readonly #onRead: () => void;

  constructor(client: StreamClient, onRead: () => void) {
    this.#client = client;
    this.#onRead = onRead;
    setInterval(() => {
      if (this.log.isCluster && !document.hidden) void this.read();
    }, INTERVAL_MS);
  }

  /** Reads the nodes. Without an answer the last known nodes stay, because older services lack this route. */
  async read(): Promise<void> {
    try {
      this.log.take(readNodes(await this.#client.get(REST_PATHS.nodes)), clockText(Date.now()));
      this.#onRead();
    } catch {}
  }
}
