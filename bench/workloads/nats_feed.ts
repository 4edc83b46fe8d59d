import { connect, type Socket } from 'node:net';
import type { NatsServers } from '../../scripts/load/nats_servers.js';
import { Names } from '../../src/cluster/nats/nats_options.js';
import { TICK_TOPIC } from '../../src/cluster/subjects.js';
import { CLUSTER_NAME } from './bench_log.js';

const NAMES = new Names(CLUSTER_NAME);
const TICK_SID = '1';
const LOG_SID = '2';
const LINE_BYTES_MAX = 4_096;
const CR = 0x0d;
/** The number of bytes that end a payload. */
const CRLF_BYTES = 2;

/** Receives the ticks and the log of a cluster, like an edge. Drops the data to save CPU time. */
export class NatsFeed {
  /** The arrival time of each tick. */
  readonly tickMs: number[] = [];
  bytes = 0;
  readonly #socket: Socket;
  readonly #onReady: () => void;
  #line = '';
  /** The number of bytes of the payload that have not arrived yet. */
  #skip = 0;

  /** Connects as a node, which must be an edge. Resolves when the server has received the subscriptions. */
  static open(servers: NatsServers, node: number): Promise<NatsFeed> {
    return new Promise((resolve, reject) => {
      const feed: NatsFeed = new NatsFeed(servers, node, () => resolve(feed), reject);
    });
  }

  private constructor(
    servers: NatsServers,
    node: number,
    onReady: () => void,
    onError: (error: Error) => void,
  ) {
    const { hostname, port } = new URL(servers.urls[0]!);
    const [user, pass] = servers.credentialsOf(node).split(':');
    this.#onReady = onReady;
    this.#socket = connect({
      host: hostname,
      port: Number(port),
      onread: {
        // All feeds share this buffer, because each feed handles the bytes before the call returns.
        buffer: READ_BUFFER,
        callback: (length, buffer) => {
          this.#push((buffer as Buffer).subarray(0, length));
          return true;
        },
      },
    });
    this.#socket.once('error', onError);
    const subscriptions = `SUB ${NAMES.topic(TICK_TOPIC)} ${TICK_SID}\r\nSUB ${NAMES.live('*')} ${LOG_SID}\r\n`;
    const login = JSON.stringify({ verbose: false, headers: true, user, pass });
    this.#socket.write(`CONNECT ${login}\r\n${subscriptions}PING\r\n`);
  }

  close(): void {
    this.#socket.destroy();
  }

  #push(chunk: Buffer): void {
    this.bytes += chunk.length;
    let at = 0;
    while (at < chunk.length) {
      if (this.#skip > 0) {
        const skipped = Math.min(this.#skip, chunk.length - at);
        this.#skip -= skipped;
        at += skipped;
        continue;
      }
      const end = chunk.indexOf('\n', at);
      this.#line += chunk.toString('latin1', at, end < 0 ? chunk.length : end);
      if (end < 0) {
        if (this.#line.length > LINE_BYTES_MAX) throw new Error('the NATS server sends no lines');
        return;
      }
      at = end + 1;
      this.#take(this.#line.charCodeAt(this.#line.length - 1) === CR ? this.#line.slice(0, -1) : this.#line);
      this.#line = '';
    }
  }

  #take(line: string): void {
    const [verb, , sid, ...rest] = line.split(' ');
    if (verb === 'MSG' || verb === 'HMSG') {
      this.#skip = Number(rest.at(-1)) + CRLF_BYTES;
      if (sid === TICK_SID) this.tickMs.push(performance.now());
    } else if (verb === 'PING') this.#socket.write('PONG\r\n');
    else if (verb === 'PONG') this.#onReady();
    else if (verb === '-ERR') throw new Error(`the NATS server says ${line}`);
  }
}

const READ_BUFFER = Buffer.allocUnsafeSlow(256 * 1024);
