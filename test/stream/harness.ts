import { StreamTimes } from '../../src/clock/stream_times.js';
import { Ticker } from '../../src/clock/ticker.js';
import { keccak256Into } from '../../src/crypto/keccak.js';
import { createCryptoJobs } from '../../src/crypto/pool/jobs.js';
import type { AssetIndex } from '../../src/model/asset.js';
import type { Price } from '../../src/model/price.js';
import { StreamEngine } from '../../src/stream/engine.js';
import { StreamSession } from '../../src/stream/group.js';
import { PriceTable } from '../../src/stream/price_table.js';
import { NOTHING_SENT, type ReaderBudgets, type StreamConnection } from '../../src/stream/reader_session.js';
import type { StreamQuery } from '../../src/stream/stream_options.js';
import type { StreamLimits } from '../../src/stream/subscriptions.js';
import { NO_SCHEDULE } from '../../src/wire/market_status_codes.js';
import { MASK_PRICE } from '../../src/wire/stream_attributes.js';
import { FakeClock } from '../clock/fake_clock.js';
import { FakeTickTimer } from '../clock/fake_tick_timer.js';
import { MemoryMarks } from '../clock/memory_marks.js';
import { readerBudgets } from '../model/counted_budget.js';
import { QUALITY } from '../model/sample.js';
import { TAXONOMY_ID } from './attribute_bodies.js';
import { type ReceivedFrame, readFrame } from './received_frame.js';

const SIGNING_KEY = Buffer.alloc(32, 5);
export const REAL_TIME: StreamQuery = {
  channel: 'real_time',
  messageType: 'unsigned',
  mask: MASK_PRICE,
  binary: false,
};
export const SIGNED_REAL_TIME: StreamQuery = { ...REAL_TIME, messageType: 'signed_ecdsa' };

export const STREAM_LIMITS: StreamLimits = {
  clientMessageBytes: 65_536,
  traceIdCharacters: 256,
  subscriptionsPerConnection: 1000,
  controlMessagesPerSecond: 1_000_000,
  subscriptionChangesPerSecond: 20,
  slowConsumerNs: 10_000_000_000n,
};

export interface EngineOptions {
  readonly ids?: readonly number[];
  readonly limits?: Partial<StreamLimits>;
  /** True if signatures of groups wait until {@link Harness.finishSigning}. */
  readonly signsLater?: boolean;
}

/** An engine with a stopped clock and connections that record. The test starts all work. */
export class Harness {
  readonly clock = new FakeClock();
  readonly marks = new MemoryMarks();
  readonly times = new StreamTimes({ clock: this.clock, node: 0, thread: 0, placeOf: this.marks.placeOf });
  readonly table: PriceTable;
  readonly engine: StreamEngine;
  readonly counters = { framesMade: 0, framesSkipped: 0, ticksSkipped: 0, slowConsumersClosed: 0 };
  readonly clients = new Set<Client>();
  /** The signed frame of each `ts`. */
  readonly #signed = new Map<bigint, string>();
  readonly #deferred: (() => void)[] = [];
  readonly #ticker = new Ticker(this.clock);
  #timer!: FakeTickTimer;
  #topics = 0;
  readonly #unsigned: { resolve(): void; reject(): void }[] = [];
  readonly #indexById: ReadonlyMap<number, number>;

  constructor({ ids = [3, 1, 500, 65_535], limits = {}, signsLater = false }: EngineOptions = {}) {
    this.table = new PriceTable(ids);
    this.#indexById = new Map(ids.map((id, index) => [id, index]));
    const statuses = new Uint8Array(ids.length).fill(NO_SCHEDULE);
    const assets = ids.map((id, index) => ({ id, index: index as AssetIndex, symbol: `ASSET${id}` }));
    const options = {
      table: this.table,
      catalogue: { assets, listed: assets },
      taxonomyId: TAXONOMY_ID,
      clock: this.clock,
      times: this.times,
      statusesAt: () => statuses,
      digest: keccak256Into,
      signOne,
      sign: (digests: Uint8Array) => (signsLater ? this.#signLater(digests) : sign(digests)),
      publish: (topic: number, frame: Uint8Array, sequence: number, isBinary?: boolean) =>
        this.#publish(topic, frameText(frame, isBinary), sequence),
      newTopic: () => this.#topics++,
      defer: (callback: () => void) => {
        this.#deferred.push(callback);
      },
      limits: { ...STREAM_LIMITS, ...limits },
      counters: this.counters,
      onDue: (timeNs: bigint) => this.#ticker.noLaterThan(timeNs),
    };
    this.engine = new StreamEngine(options);
    this.#ticker.start([this.engine], (onTime) => {
      this.#timer = new FakeTickTimer(this.clock, onTime);
      return this.#timer;
    });
  }

  connect(
    options: StreamQuery = REAL_TIME,
    maySee: (symbol: string) => boolean = () => true,
    budgets: ReaderBudgets = readerBudgets(),
  ): Client {
    const client = new Client(this, options, maySee, budgets);
    this.clients.add(client);
    return client;
  }

  /** Sets or removes a price, and reports this to the engine like the service does. */
  price(id: number, price: bigint | undefined): void {
    const index = this.#indexById.get(id)! as AssetIndex;
    if (price === undefined) this.table.clear(index);
    else if (this.table.set(index, price as Price, QUALITY)) this.engine.priceChanged(index);
  }

  /** Runs the callbacks that were deferred to the end of the turn, once. */
  endTurn(): void {
    for (const callback of this.#deferred.splice(0)) callback();
  }

  /** Records a frame. @throws Error when the key has signed another payload with the same `ts` */
  noteFrame({ type, ts, text }: ReceivedFrame): void {
    if (type === 'unsigned') return;
    const before = this.#signed.get(ts);
    if (before !== undefined && before !== text) throw new Error(`two payloads are signed under ${ts}`);
    this.#signed.set(ts, text);
  }

  /** Advances the time in steps, with ticks at the requested times. */
  advanceMs(durationMs: number, stepMs = 1): void {
    for (let ms = 0; ms < durationMs; ms += stepMs) {
      this.pass(BigInt(stepMs) * 1_000_000n);
      this.endTurn();
    }
  }

  /** Advances the time, and runs a tick if a tick is then due. */
  pass(durationNs: bigint): void {
    this.clock.advance(durationNs);
    this.#timer.pass(durationNs);
    this.#ticker.runIfDue();
  }

  /** The time until the next tick. */
  get nextTickNs(): bigint {
    return this.#timer.leftNs;
  }

  get signing(): number {
    return this.#unsigned.length;
  }

  /** Finishes the oldest batch of the signers, or makes it fail. */
  async finishSigning(outcome: 'signed' | 'failed' = 'signed'): Promise<void> {
    const batch = this.#unsigned.shift();
    if (outcome === 'signed') batch?.resolve();
    else batch?.reject();
    await new Promise((resolve) => setImmediate(resolve));
  }

  #signLater(digests: Uint8Array): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      this.#unsigned.push({
        resolve: () => resolve(sign(digests)),
        reject: () => reject(new Error('the signer is gone')),
      });
    });
  }

  #publish(topic: number, text: string, sequence: number): void {
    for (const client of this.clients) client.published(topic, text, sequence);
  }
}

/** A connection and the messages that it received. */
export class Client implements StreamConnection {
  readonly session: StreamSession;
  readonly frames: ReceivedFrame[] = [];
  readonly replies: Record<string, unknown>[] = [];
  /** The topics. The value is the price sequence that was sent on the topic. */
  readonly topics = new Map<number, number>();
  closedWith: number | undefined;
  /** The number of bytes that may wait for the socket. Further frames are dropped. */
  bufferedBytesMax = Number.POSITIVE_INFINITY;
  /** True while the socket accepts data. */
  #reads = true;
  #bufferedBytes = 0;

  constructor(
    readonly harness: Harness,
    options: StreamQuery,
    maySee: (symbol: string) => boolean,
    budgets: ReaderBudgets,
  ) {
    this.session = new StreamSession(this, { streams: harness.engine, options, rights: { maySee }, budgets });
  }

  subscribe(...assets: number[]): void {
    this.say({ type: 'subscribe', assets });
  }

  unsubscribe(...assets: number[]): void {
    this.say({ type: 'unsubscribe', assets });
  }

  say(message: object | string): void {
    const text = typeof message === 'string' ? message : JSON.stringify(message);
    this.harness.engine.receive(this.session, text);
  }

  stopReading(): void {
    this.#reads = false;
  }

  /** Makes the socket accept this number of the waiting bytes, or all of them. */
  read(bytes = Number.POSITIVE_INFINITY): void {
    if (bytes === Number.POSITIVE_INFINITY) this.#reads = true;
    this.#bufferedBytes = Math.max(0, this.#bufferedBytes - bytes);
    this.harness.engine.drained(this.session, this.#bufferedBytes);
  }

  /** Disconnects the client. */
  hangUp(): void {
    this.topics.clear();
    this.harness.clients.delete(this);
    this.harness.engine.closed(this.session);
  }

  get last(): ReceivedFrame | undefined {
    return this.frames.at(-1);
  }

  /** Returns the messages since the last call, as text such as `1=5 3=7`. */
  news(): string[] {
    return this.frames
      .splice(0)
      .map(({ prices }) => [...prices].map(([id, price]) => `${id}=${price}`).join(' '));
  }

  send(frame: Uint8Array | string, isBinary?: boolean): void {
    if (this.closedWith !== undefined) throw new Error('sent on a closed socket');
    const text = typeof frame === 'string' ? frame : frameText(frame, isBinary);
    if (this.#bufferedBytes + text.length > this.bufferedBytesMax) {
      this.harness.engine.lagged(this.session, NOTHING_SENT);
      return;
    }
    if (!this.#reads) this.#bufferedBytes += text.length;
    const read = readFrame(text, this.harness.clock.timeNs);
    if (read) {
      this.harness.noteFrame(read);
      this.frames.push(read);
    } else this.replies.push(JSON.parse(text));
  }

  /** Receives a frame for the topic. A socket with waiting bytes does not accept the frame. */
  published(topic: number, text: string, sequence: number): void {
    const toldOf = this.topics.get(topic);
    if (toldOf === undefined) return;
    if (this.#bufferedBytes > 0) {
      this.harness.engine.lagged(this.session, toldOf);
      return;
    }
    this.topics.set(topic, sequence);
    this.send(text);
  }

  join(topic: number, sequence: number): void {
    if (this.topics.has(topic)) throw new Error('joined twice');
    this.topics.set(topic, sequence);
  }

  leave(topic: number): void {
    if (!this.topics.delete(topic)) throw new Error('left without having joined');
  }

  close(code: number): void {
    this.closedWith = code;
    this.hangUp();
  }
}

/** Returns a frame as JSON. A binary frame is the payload of the JSON. */
function frameText(frame: Uint8Array, isBinary = false): string {
  const bytes = Buffer.from(frame);
  return isBinary ? `{"type":"signed_ecdsa","p":"0x${bytes.toString('hex')}"}` : bytes.toString();
}

const { signEvm, signOneEvm } = createCryptoJobs();

function sign(digests: Uint8Array): Uint8Array {
  return signEvm(digests, SIGNING_KEY);
}

function signOne(digest: Uint8Array): Uint8Array {
  return signOneEvm(digest, SIGNING_KEY);
}
