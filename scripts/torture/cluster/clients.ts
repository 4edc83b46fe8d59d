import { symbolOf } from '../../load/config.js';
import { openStreams } from '../../load/streams.js';
import type { Updates } from '../../load/updates.js';
import { pause } from '../../load/wait.js';
import { AckedPublisher } from '../publisher.js';
import type { SignedValues } from '../signed_values.js';
import { ASSETS, type TortureNode } from './nodes.js';
import { Track } from './silences.js';

const ALL = Array.from({ length: ASSETS }, (_, asset) => asset);
const SYMBOLS = ALL.map(symbolOf);
const RECONNECT_MS = 20;

/** Reads from one node during the whole check: an unsigned stream, a signed stream, and the newest aggregates. */
export class NodeReader {
  readonly node: TortureNode;
  readonly streams = new Track('stream');
  readonly rest = new Track('rest');
  readonly #values: SignedValues;
  readonly #pollMs: number;
  #isOver = false;

  /** @param pollMs the time between two requests for the newest aggregates */
  constructor(node: TortureNode, values: SignedValues, pollMs: number) {
    this.node = node;
    this.#values = values;
    this.#pollMs = pollMs;
    void this.#poll();
    void this.#stream('', (text) => /"ts"/.test(text) && this.streams.note());
    void this.#stream('message_type=signed_ecdsa', (text) => this.#values.takeFrame(text, `${node.number}`));
  }

  stop(): void {
    this.#isOver = true;
  }

  async #poll(): Promise<void> {
    let newestNs = 0n;
    while (!this.#isOver) {
      const { service } = this.node;
      const startMs = performance.now();
      // The poll may fail, because the check may stop the node at any time.
      const shown =
        service && (await this.#values.poll(service.port, SYMBOLS, `${this.node.number}`).catch(() => []));
      for (const { timeNs } of shown ?? [])
        if (timeNs > newestNs) {
          newestNs = timeNs;
          this.rest.note();
        }
      await pause(Math.max(1, this.#pollMs - (performance.now() - startMs)));
    }
  }

  async #stream(query: string, take: (text: string) => void): Promise<void> {
    while (!this.#isOver) {
      const port = this.node.service?.port;
      if (port !== undefined)
        await new Promise<void>((resolve) => {
          openStreams({
            port,
            query,
            count: 1,
            assetsOf: () => ALL,
            onFrame: (payload) => take(payload.toString('latin1')),
            onClose: () => resolve(),
          }).catch(() => resolve());
        });
      await pause(RECONNECT_MS);
    }
  }
}

/**
 * A publisher that connects to another node when its own node has ended. The publisher records the updates that were acknowledged as
 * durable.
 */
export class RoamingPublisher {
  /** The number of the publisher, which also selects its preferred node. */
  readonly publisher: number;
  readonly #nodes: readonly TortureNode[];
  readonly #updates: Updates;
  #at = 0;
  #open: AckedPublisher | undefined;
  #sent = 0;
  readonly #timer: NodeJS.Timeout;
  readonly acks = new Track('ack');
  /** The acknowledged updates in the form `symbol timestamp`. */
  readonly acknowledged = new Set<string>();
  /** The reasons of refused updates. */
  readonly refusals: string[] = [];

  /** @param sendMs the time between two updates */
  constructor(publisher: number, nodes: readonly TortureNode[], updates: Updates, sendMs: number) {
    this.publisher = publisher;
    this.#nodes = nodes;
    this.#updates = updates;
    void this.#connect();
    this.#timer = setInterval(() => this.#open?.send([this.#sent++ % ASSETS]), sendMs);
  }

  /** The node to which the publisher is connected. */
  get node(): TortureNode {
    return this.#nodes[this.#at]!;
  }

  /** The publisher's preferred node. */
  get home(): TortureNode {
    return this.#nodes[this.publisher % this.#nodes.length]!;
  }

  get isHome(): boolean {
    return this.#open !== undefined && this.node === this.home;
  }

  /** The number of messages without an answer on the open connection. */
  get unanswered(): number {
    return this.#open?.unanswered ?? 0;
  }

  /** Closes a connection to any other node. The publisher then connects to its preferred node. */
  goHome(): void {
    if (!this.isHome) this.#open?.close();
  }

  /** Stops sending. */
  stop(): void {
    clearInterval(this.#timer);
  }

  async #connect(): Promise<void> {
    this.#open = undefined;
    for (this.#at = this.#nodes.indexOf(this.home); ; this.#at = (this.#at + 1) % this.#nodes.length) {
      const port = this.node.service?.port;
      if (port !== undefined) {
        this.#open = await AckedPublisher.open({
          port,
          publisher: this.publisher,
          assets: ALL,
          ack: 'durable',
          updates: this.#updates,
          onAccepted: ({ symbol, timestampNs }) => {
            this.acknowledged.add(`${symbol} ${timestampNs}`);
            this.acks.note();
          },
          onRejected: (reason) => this.refusals.push(reason),
          onClose: () => void this.#connect(),
        }).catch(() => undefined);
        // A node that refused the connection or failed gives its turn to the next one.
        if (this.#open !== undefined) return;
      }
      await pause(RECONNECT_MS);
    }
  }
}
