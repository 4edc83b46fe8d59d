import { createHash } from 'node:crypto';
import { connect, type Socket } from 'node:net';

/**
 * The content of the log, read and checked without the service's code. This file reimplements the NATS protocol, the FlatBuffers
 * encoding and the rules of the log.
 */
export interface RawLog {
  readonly first: number;
  readonly last: number;
  readonly epochs: number;
  readonly aggregates: number;
  /** The accepted updates in the form `publisher key, symbol, timestamp`. */
  readonly updates: ReadonlySet<string>;
  /** A sentence for each record that this copy lacks or has with other bytes. A node that reads such a record asks the other servers. */
  readonly damaged: readonly string[];
  /** A sentence for each broken rule. */
  readonly violations: readonly string[];
}

const AT_ONCE = 64;
const ANSWER_MS_MAX = 5_000;
const ANSWERS = '_INBOX.aggregator.raw_log';

/** Reads the whole log from the leading server. @throws Error when no server answers */
export async function readRawLog(server: string): Promise<RawLog> {
  const client = await RawClient.connect(server);
  try {
    const info = JSON.parse(await client.ask('$JS.API.STREAM.INFO.TS_MAIN_LOG', '')) as StreamInfo;
    if (info.state === undefined) throw new Error(info.error?.description ?? 'the server has no log');
    const { first_seq: first, last_seq: last } = info.state;
    const judge = new Judge();
    for (let from = first; from <= last; from += AT_ONCE) {
      const sequences = Array.from({ length: Math.min(AT_ONCE, last - from + 1) }, (_, i) => from + i);
      const answers = await Promise.all(
        sequences.map((seq) => client.ask('$JS.API.STREAM.MSG.GET.TS_MAIN_LOG', JSON.stringify({ seq }))),
      );
      for (const [i, answer] of answers.entries())
        judge.take(sequences[i]!, JSON.parse(answer) as StoredMessage);
    }
    return { ...judge.result(), first, last };
  } finally {
    client.close();
  }
}

interface StreamInfo {
  readonly state?: { readonly first_seq: number; readonly last_seq: number };
  readonly error?: { readonly description: string };
}

interface StoredMessage {
  readonly message?: { readonly subject: string; readonly data?: string };
}

/** A connection that speaks the NATS protocol. */
class RawClient {
  readonly #socket: Socket;
  readonly #waiting = new Map<string, (answer: string) => void>();
  #received = Buffer.alloc(0);
  #asked = 0;

  private constructor(socket: Socket, server: URL) {
    this.#socket = socket;
    socket.on('data', (bytes) => this.#take(bytes));
    socket.on('error', () => {});
    const { username: user, password: pass } = server;
    const login = JSON.stringify({ verbose: false, headers: true, user, pass });
    socket.write(`CONNECT ${login}\r\nSUB ${ANSWERS}.* 1\r\n`);
  }

  static connect(server: string): Promise<RawClient> {
    return new Promise((resolve, reject) => {
      const url = new URL(server);
      const socket = connect(Number(url.port), '127.0.0.1', () => resolve(new RawClient(socket, url)));
      socket.once('error', reject);
    });
  }

  ask(subject: string, text: string): Promise<string> {
    const id = String(this.#asked++);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no answer to ${subject}`)), ANSWER_MS_MAX);
      this.#waiting.set(id, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      this.#socket.write(`PUB ${subject} ${ANSWERS}.${id} ${Buffer.byteLength(text)}\r\n${text}\r\n`);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(bytes: Buffer): void {
    this.#received = Buffer.concat([this.#received, bytes]);
    for (;;) {
      const end = this.#received.indexOf('\r\n');
      if (end < 0) return;
      const line = this.#received.toString('latin1', 0, end);
      const words = line.split(' ');
      let next = end + 2;
      if (line === 'PING') this.#socket.write('PONG\r\n');
      if (words[0] === 'MSG' || words[0] === 'HMSG') {
        const size = Number(words.at(-1));
        const headerSize = words[0] === 'HMSG' ? Number(words.at(-2)) : 0;
        if (this.#received.length < next + size + 2) return;
        const id = words[1]!.split('.').at(-1)!;
        this.#waiting.get(id)?.(this.#received.toString('utf8', next + headerSize, next + size));
        this.#waiting.delete(id);
        next += size + 2;
      }
      this.#received = this.#received.subarray(next);
    }
  }
}

/** Applies the rules of the log to its records, in order. */
class Judge {
  readonly #updates = new Set<string>();
  readonly #violations: string[] = [];
  readonly #damaged: string[] = [];
  /** The value by symbol and time. */
  readonly #values = new Map<string, string>();
  readonly #newestNs = new Map<string, bigint>();
  #epochs = 0;
  #aggregates = 0;
  #epoch = 0n;
  #lastId: string | undefined;

  take(sequence: number, { message }: StoredMessage): void {
    const fail = (what: string) => this.#violations.push(`record ${sequence} ${what}`);
    if (message?.data === undefined) return void this.#noteDamage(`record ${sequence} is missing`);
    const bytes = Buffer.from(message.data, 'base64');
    const id = message.subject.split('.').at(-1)!;
    if (createHash('sha256').update(bytes).digest('hex') !== id)
      return void this.#noteDamage(`record ${sequence} does not have its ID as its hash`);
    const batch = Table.root(bytes);
    if (batch.uint64(2) !== BigInt(sequence)) fail(`was written for place ${batch.uint64(2)}`);
    const after = batch.text(3);
    if (this.#lastId !== undefined && after !== this.#lastId) fail(`follows ${after}, not ${this.#lastId}`);
    this.#lastId = id;
    const epoch = batch.uint64(1);
    const claim = batch.table(4);
    if (claim !== undefined && claim.byte(4) === 0) {
      if (epoch <= this.#epoch) fail(`claims epoch ${epoch} after ${this.#epoch}`);
      this.#epochs++;
    } else if (this.#epoch !== 0n && epoch !== this.#epoch) fail(`is of epoch ${epoch}, not ${this.#epoch}`);
    this.#epoch = epoch;
    for (const entry of batch.tables(5)) this.#enter(entry, fail);
  }

  result(): Omit<RawLog, 'first' | 'last'> {
    return {
      epochs: this.#epochs,
      aggregates: this.#aggregates,
      updates: this.#updates,
      damaged: this.#damaged,
      violations: this.#violations,
    };
  }

  /** Notes a record that nobody can compare with the next record. */
  #noteDamage(text: string): void {
    this.#damaged.push(text);
    this.#lastId = undefined;
  }

  #enter(entry: Table, fail: (what: string) => void): void {
    const symbol = entry.text(0);
    const publisher = entry.bytes(2);
    const content = entry.bytes(3)!;
    if (publisher === undefined) this.#enterAggregate(symbol, content.toString(), fail);
    else this.#enterInput(`0x${publisher.toString('hex')} ${symbol}`, content.toString());
  }

  #enterInput(name: string, content: string): void {
    const [, time] = /"timestamp":(\d+),"msg_hash"/.exec(content) ?? [];
    this.#updates.add(`${name} ${time}`);
    // The record of a publisher's newest update also contains the times of the earlier updates, in rows of 18 bytes.
    const [, seen] = /"seen":"([^"]*)"\}$/.exec(content) ?? [];
    const rows = Buffer.from(seen ?? '', 'base64');
    for (let at = 0; at < rows.length; at += 18)
      this.#updates.add(
        `${name} ${BigInt(rows.readUInt32LE(at + 8)) * 1_000_000_000n + BigInt(rows.readUInt32LE(at + 12))}`,
      );
  }

  #enterAggregate(symbol: string, content: string, fail: (what: string) => void): void {
    const [, line] = /"aggregate":(.*)\}$/.exec(content) ?? [];
    if (line === undefined) return;
    this.#aggregates++;
    const [, key] = /"public_key":"(0x[0-9a-fA-F]+)"/.exec(line) ?? [];
    const [, time, hash] =
      /"timestamp":(\d+),"msg_hash":"(0x[0-9a-f]+)"\},"publisher_merkle_root"/.exec(line) ?? [];
    const signedNs = BigInt(time ?? 0);
    const value = `${key} ${hash}`;
    const name = `${symbol} ${signedNs}`;
    const before = this.#values.get(name);
    if (before !== undefined && before !== value) fail(`has another value of ${name}`);
    this.#values.set(name, value);
    // A checkpoint repeats the newest aggregate.
    if (before === undefined && signedNs <= (this.#newestNs.get(symbol) ?? 0n))
      fail(`signs ${symbol} at ${signedNs}, not later than before`);
    if (before === undefined) this.#newestNs.set(symbol, signedNs);
  }
}

/** A table of a flatbuffer. The numbers of fields follow the order in the schema `wire.fbs`. Aggregates and inputs are JSON. */
class Table {
  readonly #buffer: Buffer;
  readonly #at: number;

  private constructor(buffer: Buffer, at: number) {
    this.#buffer = buffer;
    this.#at = at;
  }

  static root(buffer: Buffer): Table {
    return new Table(buffer, buffer.readUInt32LE(0));
  }

  byte(field: number): number {
    const at = this.#place(field);
    return at === undefined ? 0 : this.#buffer.readUInt8(at);
  }

  uint64(field: number): bigint {
    const at = this.#place(field);
    return at === undefined ? 0n : this.#buffer.readBigUInt64LE(at);
  }

  text(field: number): string {
    return this.bytes(field)?.toString('utf8') ?? '';
  }

  bytes(field: number): Buffer | undefined {
    const at = this.#target(field);
    if (at === undefined) return undefined;
    return this.#buffer.subarray(at + 4, at + 4 + this.#buffer.readUInt32LE(at));
  }

  table(field: number): Table | undefined {
    const at = this.#target(field);
    return at === undefined ? undefined : new Table(this.#buffer, at);
  }

  tables(field: number): Table[] {
    const at = this.#target(field);
    if (at === undefined) return [];
    return Array.from({ length: this.#buffer.readUInt32LE(at) }, (_, i) => {
      const place = at + 4 + 4 * i;
      return new Table(this.#buffer, place + this.#buffer.readUInt32LE(place));
    });
  }

  /** Returns the offset of a field, or `undefined` when the field is absent. */
  #place(field: number): number | undefined {
    const vtable = this.#at - this.#buffer.readInt32LE(this.#at);
    const slot = 4 + 2 * field;
    if (slot >= this.#buffer.readUInt16LE(vtable)) return undefined;
    const offset = this.#buffer.readUInt16LE(vtable + slot);
    return offset === 0 ? undefined : this.#at + offset;
  }

  /** Returns the offset to which a field points. */
  #target(field: number): number | undefined {
    const at = this.#place(field);
    return at === undefined ? undefined : at + this.#buffer.readUInt32LE(at);
  }
}
