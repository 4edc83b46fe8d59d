import type { StreamQuery } from '../../src/stream/stream_options.js';
import type { Client, Harness } from './harness.js';

const MS = 1_000_000n;

/** The frames that a client of the streams expects, computed in the simplest way. */
export class Expectation {
  readonly subscribed = new Set<number>();
  /** For `real_time`: the last change of each asset's price that was sent; 0 when the price is due in any case. */
  readonly toldOf = new Map<number, number>();
  readonly values = new Map<number, bigint>();
  #seen = 0;
  #lastTs = 0n;
  #lastSentAtNs: bigint | undefined;

  constructor(
    readonly client: Client,
    readonly options: StreamQuery,
  ) {}

  get isRealTime(): boolean {
    return this.options.channel === 'real_time';
  }

  subscribe(ids: readonly number[]): void {
    for (const id of ids) {
      // A new subscription begins with a snapshot. The snapshot also has unchanged prices.
      if (!this.subscribed.has(id)) this.toldOf.delete(id);
      this.subscribed.add(id);
    }
    this.client.subscribe(...ids);
  }

  /** Checks the frames since the last check. */
  check(real: Real): void {
    const frames = this.client.frames.slice(this.#seen);
    this.#seen = this.client.frames.length;
    for (const { ts, prices, sentAtNs } of frames) {
      assert(ts > this.#lastTs, 'ts grows');
      if (!real.signsLater && this.#lastTs === 0n)
        assert(ts - sentAtNs < MS, 'a new connection is not held ahead of the clock');
      this.#lastTs = ts;
      assert(prices.size > 0, 'a frame has assets');
      const ids = [...prices.keys()];
      assert(
        ids.every((id, i) => i === 0 || id > ids[i - 1]!),
        'assets ascend',
      );
      assert(
        ids.every((id) => this.subscribed.has(id)),
        'only what is subscribed',
      );
      for (const [id, price] of prices) this.#take(id, price, real);
      if (!real.signsLater) this.#checkNewest(prices, real);
      if (this.isRealTime && !real.signsLater && this.#lastSentAtNs !== undefined) {
        const passedNs = sentAtNs - this.#lastSentAtNs;
        assert(passedNs >= MS || passedNs < 0n, `frames ${passedNs} ns apart`);
      }
      this.#lastSentAtNs = sentAtNs;
    }
  }

  /**
   * Checks a frame that was sent without a wait. The frame must have the newest prices; on a fixed channel it must have all
   * prices.
   */
  #checkNewest(prices: ReadonlyMap<number, bigint>, { live }: Real): void {
    for (const [id, price] of prices) assert(live.get(id) === price, `asset ${id} is live at ${price}`);
    const due = [...this.subscribed].filter((id) => live.has(id));
    assert(this.isRealTime || due.length === prices.size, 'a fixed channel sends all live assets');
  }

  #take(id: number, price: bigint, real: Real): void {
    const before = this.isRealTime ? (this.toldOf.get(id) ?? 0) : 0;
    // The index of the earliest possible change after the last sent change.
    const told = (real.history.get(id) ?? []).indexOf(price, before) + 1;
    assert(told > 0, `asset ${id} never was ${price}, or is repeated unchanged`);
    this.toldOf.set(id, told);
    this.values.set(id, price);
  }

  /** Checks that the client knows the live prices of its set, when nothing is pending. */
  checkAtRest(real: Real): void {
    for (const id of this.subscribed) {
      const price = real.live.get(id);
      if (price !== undefined) assert(this.values.get(id) === price, `asset ${id} is ${price} at rest`);
    }
  }
}

/** The real state with which the expectations of clients are compared. */
export interface Real {
  readonly harness: Harness;
  readonly signsLater: boolean;
  readonly clients: (Expectation | undefined)[];
  readonly live: Map<number, bigint>;
  /** All prices of each asset. A price that ended and returned occurs twice. */
  readonly history: Map<number, bigint[]>;
  stepsBack: number;
}

export function assert(condition: boolean, what: string): void {
  if (!condition) throw new Error(what);
}
