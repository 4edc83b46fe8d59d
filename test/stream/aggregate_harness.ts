import type { Asset, AssetIndex, SignatureType } from '../../src/model/asset.js';
import { AggregateSession } from '../../src/stream/aggregate_group.js';
import { AggregateStreams } from '../../src/stream/aggregate_streams.js';
import type { StreamLimits } from '../../src/stream/subscriptions.js';
import { FakeClock } from '../clock/fake_clock.js';
import { readerBudgets } from '../model/counted_budget.js';
import { sampleAsset } from '../model/sample.js';
import { STREAM_LIMITS } from './harness.js';

/** Streams of aggregates. The harness records what connections receive, and the test ends turns. */
export class AggregateHarness {
  readonly clock = new FakeClock();
  readonly counters = { framesMade: 0, framesSkipped: 0, ticksSkipped: 0, slowConsumersClosed: 0 };
  readonly streams: AggregateStreams;
  readonly clients = new Set<AggregateClient>();
  assets: readonly Asset[];
  /** The number of the latest aggregate of each asset, by asset index. The line of an aggregate is its number. */
  readonly latest = new Map<AssetIndex, number>();
  readonly #deferred: (() => void)[] = [];
  #numbers = 0;
  #topics = 0;

  constructor(assets: readonly Asset[] = sampleAssets(4), limits: Partial<StreamLimits> = {}) {
    this.assets = assets;
    this.streams = new AggregateStreams({
      findAsset: (symbol, type) =>
        this.assets.find((asset) => asset.symbol === symbol && asset.signatureType === type),
      lineOf: ({ index }) => this.latest.get(index)?.toString(),
      clock: this.clock,
      publish: (topic, frame, sequence) => this.#publish(topic, Buffer.from(frame).toString(), sequence),
      newTopic: () => this.#topics++,
      defer: (callback) => this.#deferred.push(callback),
      limits: { ...STREAM_LIMITS, ...limits },
      counters: this.counters,
    });
  }

  connect(type: SignatureType = 'evm', maySee: (symbol: string) => boolean = () => true): AggregateClient {
    const client = new AggregateClient(this, type, maySee);
    this.clients.add(client);
    return client;
  }

  /** Signs a new aggregate of the asset. @returns its number */
  sign(symbol: string, type: SignatureType = 'evm'): number {
    const asset = this.assets.find((one) => one.symbol === symbol && one.signatureType === type)!;
    const number = ++this.#numbers;
    this.latest.set(asset.index, number);
    this.streams.signed(asset);
    return number;
  }

  endTurn(): void {
    for (const callback of this.#deferred.splice(0)) callback();
  }

  #publish(topic: number, text: string, sequence: number): void {
    for (const client of [...this.clients]) {
      if (client.topic !== topic) continue;
      if (client.isStuck) {
        client.topic = undefined;
        this.streams.lagged(client.session, client.sequence);
      } else {
        client.take(text);
        client.sequence = sequence;
      }
    }
  }
}

export function sampleAssets(count: number): readonly Asset[] {
  return Array.from({ length: count }, (_, index) =>
    sampleAsset({ index: index as AssetIndex, id: index + 1, symbol: `A${index}` }),
  );
}

export class AggregateClient {
  readonly session: AggregateSession;
  readonly received: Record<string, unknown>[] = [];
  topic: number | undefined;
  sequence = 0;
  /** True while the connection's socket accepts no data. */
  isStuck = false;
  closed: number | undefined;
  /** The values that the client knows from all received frames. */
  readonly known = new Map<string, number>();

  constructor(
    readonly harness: AggregateHarness,
    type: SignatureType,
    maySee: (symbol: string) => boolean,
  ) {
    const connection = {
      send: (frame: Uint8Array | string) => this.take(Buffer.from(frame as string).toString()),
      join: (topic: number, sequence: number) => {
        if (this.topic !== undefined) throw new Error('a socket is in one topic at a time');
        this.topic = topic;
        this.sequence = sequence;
      },
      leave: (topic: number) => {
        if (this.topic === topic) this.topic = undefined;
      },
      close: (code: number) => {
        this.closed = code;
        this.close();
      },
    };
    this.session = new AggregateSession(connection, {
      streams: harness.streams,
      rights: { maySee },
      budgets: readerBudgets(),
      signatureType: type,
    });
  }

  take(text: string): void {
    const message = JSON.parse(text) as Record<string, unknown>;
    this.received.push(message);
    if (message['type'] !== 'oracle_prices') return;
    for (const [symbol, number] of Object.entries(message['data'] as Record<string, number>))
      this.known.set(symbol, number);
  }

  send(message: unknown): void {
    this.harness.streams.receive(
      this.session,
      typeof message === 'string' ? message : JSON.stringify(message),
    );
  }

  subscribe(...data: string[]): void {
    this.send({ type: 'subscribe', data });
  }

  unsubscribe(...data: string[]): void {
    this.send({ type: 'unsubscribe', data });
    for (const symbol of data) this.known.delete(symbol);
  }

  /** Returns the messages since the last call. */
  takeReceived(): Record<string, unknown>[] {
    return this.received.splice(0);
  }

  /** Returns the prices of the frames since the last call. Ignores other messages. */
  takePrices(): (readonly [string, number])[][] {
    return this.takeReceived()
      .filter(({ type }) => type === 'oracle_prices')
      .map(({ data }) => Object.entries(data as Record<string, number>));
  }

  /** Makes the connection's socket accept all waiting bytes. */
  drain(): void {
    this.isStuck = false;
    this.harness.streams.drained(this.session, 0);
  }

  close(): void {
    this.topic = undefined;
    this.harness.clients.delete(this);
    this.harness.streams.closed(this.session);
  }
}
