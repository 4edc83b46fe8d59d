import { symbolOf, TOKEN } from '../../load/config.js';
import { clientFrame, type FrameSocket, openFrameSocket } from '../../load/frame_socket.js';
import { openStreams } from '../../load/streams.js';
import { publishMessage, type Updates } from '../../load/updates.js';
import { pause } from '../../load/wait.js';
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
    void this.#stream('message_type=signed_ecdsa', (text) => {
      const hex = /"p":"0x([0-9a-f]+)"/.exec(text)?.[1];
      if (hex !== undefined) this.#values.takePayload(hex, `${node.number}`);
    });
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
  readonly #publisher: number;
  readonly #nodes: readonly TortureNode[];
  readonly #updates: Updates;
  readonly #home: number;
  #at: number;
  #socket: FrameSocket | undefined;
  #sent = 0;
  #pending = new Map<string, { readonly name: string; readonly atMs: number }>();
  readonly #timer: NodeJS.Timeout;
  readonly acks = new Track('ack');
  /** The acknowledged updates in the form `symbol timestamp`. */
  readonly acknowledged = new Set<string>();
  readonly refusals = new Map<string, number>();
  readonly errors = new Map<string, number>();

  /**
   * @param publisher the number of the publisher, which also selects its preferred node
   * @param sendMs the time between two updates
   */
  constructor(publisher: number, nodes: readonly TortureNode[], updates: Updates, sendMs: number) {
    this.#publisher = publisher;
    this.#nodes = nodes;
    this.#updates = updates;
    this.#home = publisher % nodes.length;
    this.#at = this.#home;
    void this.#connect();
    this.#timer = setInterval(() => this.#send(), sendMs);
  }

  /** The node to which the publisher is connected. */
  get node(): TortureNode {
    return this.#nodes[this.#at]!;
  }

  get publisher(): number {
    return this.#publisher;
  }

  /** The number of messages without an answer on the open connection. */
  get unanswered(): number {
    return this.#pending.size;
  }

  /** The publisher's preferred node. */
  get home(): TortureNode {
    return this.#nodes[this.#home]!;
  }

  get isHome(): boolean {
    return this.#socket !== undefined && this.#at === this.#home;
  }

  /** Closes a connection to any other node. The publisher then connects to its preferred node. */
  goHome(): void {
    if (!this.isHome) this.#socket?.close();
  }

  /** Stops sending. */
  stop(): void {
    clearInterval(this.#timer);
  }

  async #connect(): Promise<void> {
    for (this.#at = this.#home; ; this.#at = (this.#at + 1) % this.#nodes.length) {
      const port = this.node.service?.port;
      try {
        if (port !== undefined) {
          this.#socket = await openFrameSocket({
            port,
            path: '/evm/publish?ack=durable',
            token: TOKEN,
            onFrame: (payload) => this.#take(payload.toString()),
            onClose: () => {
              this.#socket = undefined;
              this.#pending = new Map();
              void this.#connect();
            },
          });
          return;
        }
      } catch {
        // This node refused the connection or failed; the next node may accept it.
      }
      await pause(RECONNECT_MS);
    }
  }

  #send(): void {
    if (this.#socket === undefined) return;
    const traceId = String(this.#sent++);
    const { symbol, timestampNs, text } = this.#updates.update(this.#publisher, this.#sent % ASSETS);
    this.#pending.set(traceId, { name: `${symbol} ${timestampNs}`, atMs: performance.now() });
    this.#socket.write(clientFrame(publishMessage([text], traceId)));
  }

  #take(text: string): void {
    const answer = JSON.parse(text) as Answer;
    const sent = this.#pending.get(answer.trace_id);
    if (sent === undefined) return;
    this.#pending.delete(answer.trace_id);
    if (answer.type === 'error') count(this.errors, answer.error);
    for (const reason of Object.values(answer.rejected ?? {})) count(this.refusals, reason);
    if ((answer.accepted ?? []).length === 0) return;
    this.acknowledged.add(sent.name);
    this.acks.note();
  }
}

interface Answer {
  readonly type: 'ack' | 'error';
  readonly trace_id: string;
  readonly error: string;
  readonly accepted?: readonly string[];
  readonly rejected?: Readonly<Record<string, string>>;
}

function count(counts: Map<string, number>, what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1);
}
