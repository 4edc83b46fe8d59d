import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import * as secp256k1 from '@noble/secp256k1';
import WebSocket from 'ws';

// Clients written only from the public documents, with plain sockets, JSON and a signature library. The clients share no code
// with the service.

secp256k1.hashes.sha256 = sha256;
secp256k1.hashes.hmacSha256 = (key, message) => hmac(sha256, key, message);

/** A node from the view of an external client. The port is `undefined` while the process does not run. */
export interface StrangerNode {
  readonly number: number;
  readonly port: () => number | undefined;
}

export interface StrangerOptions {
  readonly token: string;
  readonly symbols: readonly string[];
  /** The oracle ID of the publishers. */
  readonly oracleId: string;
}

const SEND_MS = 40;
const POLL_MS = 100;
const RECONNECT_MS = 50;
const REQUEST_MS_MAX = 3_000;
const NS_PER_MS = 1_000_000n;
const NS_PER_SECOND = 1_000_000_000n;
const UNIT = 10n ** 18n;
/** The age of the first update. The service of the check accepts updates of the last four hours. */
const AGE_NS = 3_600n * NS_PER_SECOND;

/** A publisher that requests durable answers. When its connection ends, the publisher connects to the next node. */
export class StrangerPublisher {
  readonly #options: StrangerOptions;
  readonly #nodes: readonly StrangerNode[];
  readonly #secretKey: Uint8Array;
  /** The address of the publisher's key, in hex. */
  readonly key: string;
  #at: number;
  #socket: WebSocket | undefined;
  #count = 0;
  #timestampNs = BigInt(Date.now()) * NS_PER_MS - AGE_NS;
  #isOver = false;
  readonly #timer: NodeJS.Timeout;
  readonly #pending = new Map<string, string>();
  /** The durable updates, in the form `key symbol timestamp`. */
  readonly acknowledged = new Set<string>();
  refused = 0;
  errors = 0;
  lastAckMs = performance.now();

  constructor(
    options: StrangerOptions,
    nodes: readonly StrangerNode[],
    secretKey: Uint8Array,
    first: number,
  ) {
    this.#options = options;
    this.#nodes = nodes;
    this.#secretKey = secretKey;
    this.key = `0x${hex(keccak_256(secp256k1.getPublicKey(secretKey, false).subarray(1)).subarray(12))}`;
    this.#at = first % nodes.length;
    this.#connect();
    this.#timer = setInterval(() => this.#send(), SEND_MS);
  }

  stop(): void {
    this.#isOver = true;
    clearInterval(this.#timer);
    this.#socket?.terminate();
  }

  #connect(): void {
    if (this.#isOver) return;
    this.#pending.clear();
    const port = this.#nodes[this.#at]!.port();
    const next = () => {
      this.#socket = undefined;
      this.#at = (this.#at + 1) % this.#nodes.length;
      setTimeout(() => this.#connect(), RECONNECT_MS);
    };
    if (port === undefined) {
      next();
      return;
    }
    const socket = new WebSocket(`ws://127.0.0.1:${port}/evm/publish?ack=durable`, {
      headers: { authorization: `Basic ${this.#options.token}` },
      handshakeTimeout: REQUEST_MS_MAX,
    });
    socket.on('open', () => {
      this.#socket = socket;
    });
    socket.on('message', (data) => this.#take(String(data)));
    socket.on('error', () => {});
    socket.on('close', next);
  }

  #send(): void {
    if (this.#socket?.readyState !== WebSocket.OPEN) return;
    const count = this.#count++;
    const symbol = this.#options.symbols[count % this.#options.symbols.length]!;
    // The updates of a minute have timestamps within two seconds, the window of a record, so the log contains all of them.
    this.#timestampNs += NS_PER_MS;
    const timestampNs = this.#timestampNs;
    // Each update has a different price. The service signs a new aggregate for most updates, because the price moves far enough.
    const price = 100n * UNIT + BigInt(count % 1_000) * (UNIT / 1_000n);
    this.#pending.set(String(count), `${this.key} ${symbol} ${timestampNs}`);
    this.#socket.send(
      `{"type":"signed_prices","trace_id":"${count}","data":{"${symbol}":${this.#signed(symbol, timestampNs, price)}}}`,
    );
  }

  #signed(symbol: string, timestampNs: bigint, price: bigint): string {
    const hash = keccak_256(
      Buffer.concat([
        Buffer.from(this.key.slice(2), 'hex'),
        Buffer.from(symbol),
        word(timestampNs / NS_PER_SECOND),
        word(price),
      ]),
    );
    const digest = keccak_256(Buffer.concat([Buffer.from('\x19Ethereum Signed Message:\n32'), hash]));
    const bytes = secp256k1.sign(digest, this.#secretKey, { prehash: false, format: 'recovered' });
    const { r, s, recovery } = secp256k1.Signature.fromBytes(bytes, 'recovered');
    const signature = `{"r":"0x${word(r).toString('hex')}","s":"0x${word(s).toString('hex')}","v":"0x${(27 + recovery!).toString(16)}"}`;
    return (
      `{"oracle_id":"${this.#options.oracleId}","asset_id":"${symbol}","trigger":"clock","signed_price":{"publisher_key":"${this.key}",` +
      `"external_asset_id":"${symbol}","signature_type":"evm","price":"${price}","timestamped_signature":{"signature":${signature},` +
      `"timestamp":${timestampNs},"msg_hash":"0x${hex(hash)}"}}}`
    );
  }

  #take(text: string): void {
    const answer = JSON.parse(text) as PublishAnswer;
    const update = this.#pending.get(answer.trace_id);
    if (update === undefined) return;
    this.#pending.delete(answer.trace_id);
    if (answer.type === 'error') this.errors++;
    else if (answer.accepted?.length === 1) {
      this.acknowledged.add(update);
      this.lastAckMs = performance.now();
    } else this.refused++;
  }
}

interface PublishAnswer {
  readonly type: 'ack' | 'error';
  readonly trace_id: string;
  readonly accepted?: readonly string[];
}

/** The signed values from all nodes, and the contradictions among them. */
export class SeenValues {
  readonly #values = new Map<string, string>();
  aggregates = 0;
  payloads = 0;
  /** A sentence for each contradiction. */
  readonly contradictions: string[] = [];

  aggregate(key: string, symbol: string, timestamp: string, value: string): void {
    if (this.#note(`aggregate of ${symbol} by ${key} at ${timestamp}`, value)) this.aggregates++;
  }

  /** @param payload the bytes in order: r, s, v, taxonomy ID, time, and the ID and value of each asset */
  payload(node: number, payload: Buffer): void {
    const body = payload.subarray(65);
    // Each node signs with a separate key.
    const under = `payload of node ${node} at ${body.readBigUInt64BE(2)}`;
    if (!this.#note(under, body.toString('base64'))) return;
    this.payloads++;
    for (let at = 10; at < body.length; at += 18)
      this.#note(`${under}, asset ${body.readUInt16BE(at)}`, body.toString('hex', at + 2, at + 18));
  }

  /** @returns true when the name is new */
  #note(name: string, value: string): boolean {
    const before = this.#values.get(name);
    if (before !== undefined && before !== value) this.contradictions.push(`${name}: ${before} and ${value}`);
    this.#values.set(name, value);
    return before === undefined;
  }
}

/** A reader of one node: a signed stream, and the newest aggregates. */
export class StrangerReader {
  readonly #options: StrangerOptions;
  readonly #node: StrangerNode;
  readonly #values: SeenValues;
  #socket: WebSocket | undefined;
  #isOver = false;
  /** The newest time of each asset and key. */
  readonly #newest = new Map<string, bigint>();

  constructor(options: StrangerOptions, node: StrangerNode, values: SeenValues) {
    this.#options = options;
    this.#node = node;
    this.#values = values;
    this.#connect();
    void this.#poll();
  }

  stop(): void {
    this.#isOver = true;
    this.#socket?.terminate();
  }

  #connect(): void {
    if (this.#isOver) return;
    const again = () => setTimeout(() => this.#connect(), RECONNECT_MS);
    const port = this.#node.port();
    if (port === undefined) return void again();
    const socket = new WebSocket(`ws://127.0.0.1:${port}/ws?message_type=signed_ecdsa`, {
      headers: { authorization: `Basic ${this.#options.token}` },
      handshakeTimeout: REQUEST_MS_MAX,
    });
    this.#socket = socket;
    socket.on('open', () =>
      socket.send(JSON.stringify({ type: 'subscribe', assets: this.#options.symbols.map((_, id) => id) })),
    );
    socket.on('message', (data) => {
      const { p } = JSON.parse(String(data)) as { p?: string };
      if (p !== undefined) this.#values.payload(this.#node.number, Buffer.from(p.slice(2), 'hex'));
    });
    socket.on('error', () => {});
    socket.on('close', again);
  }

  async #poll(): Promise<void> {
    while (!this.#isOver) {
      const port = this.#node.port();
      if (port !== undefined) await this.#latest(port).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  async #latest(port: number): Promise<void> {
    const url = `http://127.0.0.1:${port}/v1/prices/latest?assets=${this.#options.symbols.join()}`;
    const response = await fetch(url, {
      headers: { authorization: `Basic ${this.#options.token}`, connection: 'close' },
      signal: AbortSignal.timeout(REQUEST_MS_MAX),
    });
    if (response.status !== 200) return;
    // The code changes times to texts, because they are larger than the integers of JSON.parse.
    const text = (await response.text()).replace(/"timestamp":(\d+)/g, '"timestamp":"$1"');
    const { data } = JSON.parse(text) as { data: Record<string, LatestAnswer> };
    for (const [symbol, { service_signed_price: signed }] of Object.entries(data)) {
      const { timestamp, msg_hash } = signed.timestamped_signature;
      const name = `${signed.public_key} ${symbol}`;
      const atNs = BigInt(timestamp);
      this.#values.aggregate(signed.public_key, symbol, timestamp, msg_hash);
      if (atNs < (this.#newest.get(name) ?? 0n))
        this.#values.contradictions.push(`node ${this.#node.number} goes back: ${symbol} at ${timestamp}`);
      this.#newest.set(name, atNs);
    }
  }
}

interface LatestAnswer {
  readonly service_signed_price: {
    readonly public_key: string;
    readonly timestamped_signature: { readonly timestamp: string; readonly msg_hash: string };
  };
}

function word(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex');
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
