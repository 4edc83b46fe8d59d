import { CHANNEL_INTERVALS_MS, DEFAULT_CHANNEL } from '../../wire/stream.js';
import { UnknownAssetError } from '../connect/errors.js';
import type { Platform } from '../connect/platform.js';
import type { StreamOptions } from '../prices/price_stream.js';
import { PulledStream } from '../prices/pulled_stream.js';
import { OperatorStream } from './operator_stream.js';
import type { OperatorClient, QuorumRules } from './quorum_options.js';
import { type NoQuorumEvent, QuorumTick } from './quorum_tick.js';
import { countVotes } from './vote_count.js';

/** The options of a stream of a quorum. The largest age is an option of the quorum. */
export interface QuorumStreamOptions extends Omit<StreamOptions, 'maxAgeMs' | 'attributes' | 'backfill'> {}

/** The parts of a client that its streams use. */
export interface QuorumParts {
  readonly operators: readonly OperatorClient[];
  readonly rules: QuorumRules;
  readonly platform: Pick<Platform, 'nowMs' | 'schedule'>;
  readonly onNoQuorum: (event: NoQuorumEvent) => void;
  readonly onClosed: (stream: QuorumStream) => void;
}

/** The interval at which every symbol is counted again. Prices become old without a message, and connections are lost. */
const CHECK_INTERVAL_MS = 500;
/** The time for which a new symbol may lack a quorum before the stream emits an event. */
const START_MS = 1_500;

/**
 * A stream of the median prices of operators that agree, for `for await`. A reader that is slower than the prices receives the newest
 * price of each asset. Leaving the loop ends the stream.
 */
export class QuorumStream extends PulledStream<QuorumTick> {
  readonly #parts: QuorumParts;
  readonly #operators: readonly OperatorStream[];
  readonly #intervalNs: bigint | undefined;
  readonly #symbols = new Map<string, QuorumSymbol>();
  /** The symbols with which the stream was opened. If no operator has one of these symbols, the stream ends. */
  readonly #first: ReadonlySet<string>;
  /** The newest unread tick of each asset, in reading order. */
  readonly #waiting = new Map<string, QuorumTick>();
  #conflated = 0;
  #open: number;
  #cancelCheck: () => void = () => {};

  /** @internal */
  constructor(symbols: readonly string[], options: QuorumStreamOptions, parts: QuorumParts) {
    super();
    const { channel = DEFAULT_CHANNEL, signatureType, signal } = options;
    const intervalMs = CHANNEL_INTERVALS_MS[channel];
    this.#parts = parts;
    this.#intervalNs = intervalMs === undefined ? undefined : BigInt(intervalMs) * 1_000_000n;
    this.#first = new Set(symbols);
    this.#open = parts.operators.length;
    const shared = { channel, signatureType, maxAgeMs: parts.rules.maxAgeMs };
    this.#operators = parts.operators.map(
      (operator) =>
        new OperatorStream(operator, symbols, shared, {
          onPrice: (symbol) => this.#countSymbol(symbol),
          onMissing: () => this.#reportMissing(),
          onEnded: (error) => this.#ended(error),
        }),
    );
    this.#enterSymbols(symbols);
    this.#checkLater();
    this.endWith(signal);
  }

  /** The current symbols of the stream. */
  get symbols(): readonly string[] {
    return [...this.#symbols.keys()];
  }

  /** The number of ticks that newer ticks replaced before the reader read them. */
  get conflated(): number {
    return this.#conflated;
  }

  /**
   * Adds symbols.
   * @throws TypeError when `symbols` is not a list of texts
   */
  add(symbols: readonly string[]): void {
    for (const operator of this.#operators) operator.add(symbols);
    this.#enterSymbols(symbols);
  }

  /** Removes symbols and their unread ticks. */
  remove(symbols: readonly string[]): void {
    for (const operator of this.#operators) operator.remove(symbols);
    for (const symbol of symbols) {
      this.#symbols.delete(symbol);
      this.#waiting.delete(symbol);
    }
  }

  /**
   * Waits for the next tick.
   * @throws UnknownAssetError when no operator has one of the symbols with which the stream was opened
   * @throws RefusedError when so many operators refuse this client that the threshold cannot be reached
   */
  async next(): Promise<IteratorResult<QuorumTick, undefined>> {
    for (;;) {
      const [tick] = this.#waiting.values();
      if (tick !== undefined) {
        this.#waiting.delete(tick.symbol);
        return { done: false, value: tick };
      }
      if (await this.isOver()) return { done: true, value: undefined };
    }
  }

  protected release(): Promise<unknown> {
    this.#cancelCheck();
    this.#waiting.clear();
    this.#parts.onClosed(this);
    return Promise.all(this.#operators.map((operator) => operator.close()));
  }

  #enterSymbols(symbols: readonly string[]): void {
    const sinceMs = this.#parts.platform.nowMs();
    for (const symbol of symbols)
      if (!this.#symbols.has(symbol)) this.#symbols.set(symbol, { sinceMs, last: undefined, reported: '' });
  }

  #ended(error: unknown): void {
    this.#open -= 1;
    if (this.#open < this.#parts.rules.threshold) this.fail(error);
  }

  /** Ends the stream when no operator has one of its first symbols. */
  #reportMissing(): void {
    const unknown = this.symbols.filter((symbol) => this.#operators.every((one) => one.lacks(symbol)));
    const isFirst = unknown.some((symbol) => this.#first.has(symbol));
    const isNew = [...this.#symbols.values()].every(({ last }) => last === undefined);
    if (isFirst && isNew) this.fail(new UnknownAssetError(unknown));
  }

  #checkLater(): void {
    this.#cancelCheck = this.#parts.platform.schedule(() => {
      this.#checkLater();
      for (const [symbol, state] of this.#symbols) this.#checkAgreement(symbol, state);
    }, CHECK_INTERVAL_MS);
  }

  /** Reports a symbol without a quorum, once for each set of verdicts. */
  #checkAgreement(symbol: string, state: QuorumSymbol): void {
    const counted = this.#countSymbol(symbol);
    if (counted === undefined || counted instanceof QuorumTick) {
      state.reported = '';
      return;
    }
    if (state.last === undefined && this.#parts.platform.nowMs() - state.sinceMs < START_MS) return;
    const verdicts = counted.operators.map(({ verdict }) => verdict).join();
    if (state.reported === verdicts) return;
    state.reported = verdicts;
    this.#parts.onNoQuorum(counted);
  }

  /** Counts a symbol's prices, and delivers a tick if its price or time is new. */
  #countSymbol(symbol: string): QuorumTick | NoQuorumEvent | undefined {
    const state = this.#symbols.get(symbol);
    if (state === undefined || this.isClosed) return undefined;
    const { rules, platform } = this.#parts;
    const standings = this.#operators.map((operator) => operator.standingOf(symbol));
    const time = { atMs: platform.nowMs(), aheadMsMax: rules.maxAgeMs, nowMs: platform.nowMs };
    const counted = countVotes(symbol, standings, rules, time);
    if (counted instanceof QuorumTick && this.#isNew(counted, state.last)) this.#deliver(counted, state);
    return counted;
  }

  /**
   * Returns whether a count is a new tick. On a fixed channel each interval has one tick, which follows when most operators have sent
   * their ticks of the interval. On `real_time` each change of the median is a tick.
   */
  #isNew({ price, timestampNs }: QuorumTick, last: QuorumTick | undefined): boolean {
    if (last === undefined) return true;
    if (this.#intervalNs === undefined) return price !== last.price || timestampNs > last.timestampNs;
    return timestampNs / this.#intervalNs > last.timestampNs / this.#intervalNs;
  }

  #deliver(counted: QuorumTick, state: QuorumSymbol): void {
    const { symbol } = counted;
    const lastNs = state.last?.timestampNs ?? 0n;
    // Another set of operators may have an earlier median time.
    const timestampNs = counted.timestampNs < lastNs ? lastNs : counted.timestampNs;
    const { price, signers, verdict, operators } = counted;
    const tick = new QuorumTick(
      { symbol, price, timestampNs, signers, verdict, operators },
      this.#parts.platform.nowMs,
    );
    state.last = tick;
    // The reader has a price again, so the loss of this quorum is news, even if its verdicts were reported before.
    state.reported = '';
    if (this.#waiting.has(symbol)) this.#conflated += 1;
    this.#waiting.set(symbol, tick);
    this.tell();
  }
}

/** The state of a symbol of the stream. */
interface QuorumSymbol {
  readonly sinceMs: number;
  last: QuorumTick | undefined;
  /** The verdicts of the last event about this symbol; empty while there is a quorum. */
  reported: string;
}
