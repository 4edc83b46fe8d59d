import type { Schedule } from '../../client/connect/liveness.js';
import type { MarketEvent, MarketRules, MarketSession } from '../adapters/market.js';
import { isSameTop, type MarketQuote, topOf } from '../market_quote.js';
import type { Connect, LiveConnection } from './live_connection.js';
import { type FrameSink, retryDelayMs } from './market_feed.js';
import type { TopAsker } from './top_asker.js';

export interface ExchangeFeedOptions {
  readonly rules: MarketRules;
  readonly connect: Connect;
  /** The pairs, each with the silence after which its watchdog acts. */
  readonly pairs: ReadonlyMap<string, number>;
  /** Requests a pair's best prices over REST; absent for an exchange without REST prices. */
  readonly asker?: Pick<TopAsker, 'ask' | 'close'> | undefined;
  readonly sink: FrameSink;
  readonly schedule: Schedule;
  readonly nowMs: () => number;
  readonly random: () => number;
}

/** The watchdog of a pair. */
interface PairWatch {
  readonly maxSilenceMs: number;
  /** The time of the pair's last frame, or of the connection's start. */
  heardMs: number;
  isAskedAgain: boolean;
  /** The best prices in the pair's last frame or answer. */
  top: MarketQuote | undefined;
  /** The time of the last request over REST; minus infinity before the first request. */
  askedMs: number;
}

/** The fraction of the allowed silence after which a pair's price is requested over REST, before the price becomes too old. */
const ASK_SHARE = 0.5;
/**
 * The time that a new subscription may be silent before its pair's price is requested. Some exchanges send nothing before the first change.
 */
const FIRST_MS_MAX = 2_000;

/** The longest time for which a connection stays open beside its successor, after the exchange has announced its end. */
const HANDOVER_MS_MAX = 10_000;
/** The age after which a connection counts as good, and the retry delay returns to its minimum. */
const GOOD_AFTER_MS = 5_000;

/** The connection for some of a source's pairs. A lost connection is replaced. Each pair has a watchdog. */
export class ExchangeLine {
  readonly #options: ExchangeFeedOptions;
  readonly #pairs = new Map<string, PairWatch>();
  #current: Life | undefined;
  /** The connection whose end was announced; kept until its successor has a quote. */
  #leaving: Life | undefined;
  #failures = 0;
  /** The time before which the exchange refuses every connection. */
  #allowedMs = 0;
  #cancelRetry: () => void = () => {};
  #cancelRenewal: () => void = () => {};
  #cancelHandover: () => void = () => {};

  constructor(options: ExchangeFeedOptions, pairs: readonly string[]) {
    this.#options = options;
    for (const pair of pairs) this.#watchPair(pair);
    this.#connect();
  }

  get size(): number {
    return this.#pairs.size;
  }

  /**
   * Requests the prices of silent pairs over REST, and subscribes to these pairs again.
   * @returns the pairs that stayed silent for the same time after that
   */
  look(): string[] {
    if (this.#current === undefined) return [];
    const nowMs = this.#options.nowMs();
    const late: string[] = [];
    const silent: string[] = [];
    for (const [pair, watch] of this.#pairs) {
      const silentMs = nowMs - watch.heardMs;
      const askAfterMs = watch.maxSilenceMs * ASK_SHARE;
      const isNew = watch.top === undefined && silentMs > Math.min(FIRST_MS_MAX, askAfterMs);
      if ((isNew || silentMs > askAfterMs) && nowMs - watch.askedMs > askAfterMs)
        this.#requestTop(this.#current, pair, watch);
      if (silentMs > 2 * watch.maxSilenceMs) silent.push(pair);
      else if (silentMs > watch.maxSilenceMs && !watch.isAskedAgain) late.push(pair);
    }
    for (const pair of late) {
      const watch = this.#pairs.get(pair)!;
      watch.isAskedAgain = true;
      this.#options.sink.warn(`${pair}: no frame for ${watch.maxSilenceMs / 1000} s; subscribing again`);
    }
    if (late.length > 0) subscribe(this.#current, late, true);
    return silent;
  }

  /** Closes the connection, and opens another connection after the retry delay. */
  renew(reason: string): void {
    if (this.#current !== undefined) this.#loseConnection(this.#current, reason);
  }

  add(pairs: readonly string[]): void {
    for (const pair of pairs) this.#watchPair(pair);
    if (this.#options.nowMs() >= this.#allowedMs) this.#connect();
  }

  remove(pairs: readonly string[]): void {
    for (const pair of pairs) this.#pairs.delete(pair);
    const { connection, session } = this.#current ?? {};
    connection?.send(session!.unsubscribe(pairs));
  }

  close(): void {
    this.#cancelRetry();
    this.#cancelRenewal();
    this.#cancelHandover();
    this.#retireConnection(this.#leaving);
    this.#retireConnection(this.#current);
    this.#current = undefined;
  }

  #watchPair(pair: string): void {
    const maxSilenceMs = this.#options.pairs.get(pair)!;
    const heardMs = this.#options.nowMs();
    const askedMs = Number.NEGATIVE_INFINITY;
    this.#pairs.set(pair, { maxSilenceMs, heardMs, isAskedAgain: false, top: undefined, askedMs });
  }

  /**
   * Requests a silent pair's best prices over REST. If they are unchanged, the pair is only quiet. If they have changed, the subscription
   * is dead.
   */
  #requestTop(life: Life, pair: string, watch: PairWatch): void {
    const { asker, nowMs } = this.#options;
    if (asker === undefined) return;
    watch.askedMs = nowMs();
    asker.ask(pair, {
      // A frame that has arrived in the meantime is newer than the answer.
      isNeeded: () =>
        life === this.#current && this.#pairs.get(pair) === watch && watch.heardMs < watch.askedMs,
      onQuote: (quote) => {
        const before = watch.top;
        watch.top = quote;
        if (before === undefined || isSameTop(topOf(before), topOf(quote))) watch.heardMs = nowMs();
        else if (!watch.isAskedAgain) {
          watch.isAskedAgain = true;
          subscribe(life, [pair], true);
        }
      },
    });
  }

  /** Opens a connection. The current connection stays open until the new connection has a quote. */
  #connect(): void {
    const { sink, connect, rules, schedule, nowMs, random } = this.#options;
    this.#cancelRetry();
    this.#retireConnection(this.#leaving);
    this.#leaving = this.#current;
    for (const watch of this.#pairs.values()) {
      watch.heardMs = nowMs();
      watch.isAskedAgain = false;
    }
    const { connection: id, session } = sink.begin([...this.#pairs.keys()]);
    const life: Life = {
      id,
      session,
      startedMs: nowMs(),
      connection: connect({
        session,
        onOpen: () => subscribe(life, [...this.#pairs.keys()], false),
        onText: (text) => this.#read(life, text),
        onEnd: (reason, stopMs) => this.#loseConnection(life, reason, stopMs),
      }),
    };
    this.#current = life;
    this.#cancelHandover();
    this.#cancelHandover = schedule(() => this.#finishHandover(), HANDOVER_MS_MAX);
    this.#cancelRenewal();
    const renewMs = rules.renewMs * (0.9 + random() / 10);
    this.#cancelRenewal = schedule(() => this.#connect(), Math.min(renewMs, TIMER_MS_MAX));
  }

  #read(life: Life, text: string): void {
    for (const event of this.#options.sink.read(life.id, text)) this.#apply(life, event);
  }

  #apply(life: Life, event: MarketEvent): void {
    const { sink, nowMs } = this.#options;
    if (event.kind === 'quote') {
      const watch = this.#pairs.get(event.quote.symbol);
      if (watch === undefined || life !== this.#current) return;
      watch.heardMs = nowMs();
      watch.isAskedAgain = false;
      watch.top = event.quote;
      if (nowMs() - life.startedMs >= GOOD_AFTER_MS) this.#failures = 0;
      if (this.#leaving !== undefined) this.#finishHandover();
    } else if (event.kind === 'ending') {
      if (life !== this.#current) return;
      // The pause is needed for an exchange that announces the end of every new connection.
      if (nowMs() - life.startedMs < GOOD_AFTER_MS) this.#loseConnection(life, event.reason);
      else {
        sink.warn(`${event.reason}; connecting again`);
        this.#connect();
      }
    } else if (event.kind === 'refused') {
      // A library also reports a host that it cannot reach as a failure of the pair, so the exchange may have refused nothing.
      const { pair, reason } = event;
      sink.warn(pair === undefined ? `a message is refused: ${reason}` : `${pair} has no price: ${reason}`);
    } else if (event.kind !== 'subscribed') {
      sink.warn(event.reason);
    }
  }

  #finishHandover(): void {
    this.#retireConnection(this.#leaving);
    this.#leaving = undefined;
  }

  #loseConnection(life: Life, reason: string, stopMs = 0): void {
    const { sink, schedule, nowMs, random } = this.#options;
    this.#retireConnection(life);
    if (life === this.#leaving) this.#leaving = undefined;
    if (life !== this.#current) return;
    this.#current = undefined;
    this.#allowedMs = nowMs() + stopMs;
    sink.warn(
      stopMs === 0
        ? `${reason}; connecting again`
        : `${reason}; connecting again in ${Math.ceil(stopMs / 1000)} s`,
    );
    this.#cancelRetry();
    const delayMs = Math.max(stopMs, retryDelayMs(this.#failures++, random()));
    this.#cancelRetry = schedule(() => this.#connect(), delayMs);
  }

  #retireConnection(life: Life | undefined): void {
    if (life === undefined) return;
    life.connection.close();
    this.#options.sink.end(life.id);
  }
}

/** Subscribes to pairs on a connection. This may be an older connection, because a connection may open after its successor was created. */
function subscribe({ connection, session }: Life, pairs: readonly string[], isAgain: boolean): void {
  if (isAgain) connection.send(session.unsubscribe(pairs));
  connection.send(session.subscribe(pairs));
}

/** The longest delay of a timer. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** A connection from its start to its end. */
interface Life {
  readonly id: number;
  readonly session: MarketSession;
  readonly startedMs: number;
  readonly connection: LiveConnection;
}
