import type { Schedule } from '../client/connect/liveness.js';
import { type Clock, NS_PER_MS } from '../model/time.js';
import { MARKETS } from '../sources/adapters/built_in.js';
import type { MarketEvent } from '../sources/adapters/market.js';
import type { Decision } from '../sources/decision.js';
import { MarketRoom } from '../sources/market_room.js';
import type { SourcesPlan } from '../sources/plan.js';
import type { SourceDefinition } from '../sources/sources_schema.js';
import { CommandFeed } from './command_feed.js';
import { ExchangeFeed } from './exchange_feed.js';
import { HttpFeed } from './http_feed.js';
import type { FrameSink, MarketFeed } from './market_feed.js';
import { checkPairs } from './pair_check.js';
import type { Recorder } from './recorder.js';
import { WarningLog } from './warning_log.js';

export interface SourceRunOptions {
  readonly plan: SourcesPlan;
  readonly clock: Clock;
  readonly schedule: Schedule;
  /** Returns a number from 0 to below 1. */
  readonly random: () => number;
  /** The variables that headers of HTTP sources may name. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly write: (line: string, decision: Decision) => void;
  readonly warn: (text: string) => void;
  readonly recorder?: Recorder | undefined;
}

/** A run of all sources of a file: feeds on one side, decisions on the other. */
export class SourceRun {
  readonly #options: SourceRunOptions;
  readonly #room: MarketRoom;
  readonly #feeds: MarketFeed[] = [];
  readonly #closed = new AbortController();
  readonly #warnings: WarningLog;
  #connections = 0;
  #cancelTick: () => void = () => {};

  constructor(options: SourceRunOptions) {
    this.#options = options;
    const { plan, clock, recorder, write, warn } = options;
    this.#warnings = new WarningLog(warn, () => Number(clock.nowNs() / NS_PER_MS));
    this.#room = new MarketRoom(plan, (line, decision) => {
      recorder?.add(decision.atNs, { wrote: line });
      write(line, decision);
    });
  }

  /** Opens all sources. Resolves when the lists of pairs are read; a source that cannot be reached keeps no other one waiting. */
  async open(): Promise<void> {
    this.#tick();
    const { sources } = this.#options.plan;
    await Promise.all([...sources].map(([name, definition]) => this.#openSource(name, definition)));
  }

  /** Returns the decision on every asset now. */
  decisions(): Decision[] {
    return this.#room.decisions(this.#options.clock.nowNs());
  }

  close(): void {
    this.#closed.abort();
    this.#cancelTick();
    for (const feed of this.#feeds) feed.close();
  }

  async #openSource(name: string, definition: SourceDefinition): Promise<void> {
    const symbols = this.#symbolsOf(name);
    if (symbols.size === 0) return;
    const sink = this.#sinkOf(name);
    const feed = await this.#feedOf(definition, symbols, sink);
    if (feed === undefined || this.#closed.signal.aborted) return;
    this.#feeds.push(feed);
    feed.open();
  }

  async #feedOf(
    definition: SourceDefinition,
    symbols: ReadonlyMap<string, number>,
    sink: FrameSink,
  ): Promise<MarketFeed | undefined> {
    const { clock, schedule, random, env } = this.#options;
    if (definition.kind === 'command') {
      return new CommandFeed({ run: definition.run, symbols: [...symbols.keys()], sink, schedule, random });
    }
    if (definition.kind === 'http') {
      const { url, every } = definition;
      const headers = headersOf(definition.headers, env, sink);
      const everyMs = Number(every / NS_PER_MS);
      return new HttpFeed({ url, headers, everyMs, symbols: [...symbols.keys()], sink, schedule });
    }
    if (definition.kind === 'ccxt') {
      sink.warn('sources of kind ccxt are not built in yet');
      return undefined;
    }
    const market = MARKETS[definition.kind];
    const { url = market.url, pairs_url = market.pairsUrl } = definition;
    const report = await checkPairs(market, pairs_url, [...symbols.keys()], this.#closed.signal);
    if (this.#closed.signal.aborted) return undefined;
    for (const problem of report.problems) sink.warn(problem);
    if (report.unread !== undefined) sink.warn(report.unread);
    if (report.usable.length === 0) return undefined;
    const pairs = new Map(report.usable.map((pair) => [pair, symbols.get(pair)!]));
    const nowMs = () => Number(clock.nowNs() / NS_PER_MS);
    return new ExchangeFeed({ market, url, pairs, sink, schedule, nowMs, random });
  }

  /** Returns a source's symbols, each with the shortest `max_age` of its assets in milliseconds. */
  #symbolsOf(source: string): ReadonlyMap<string, number> {
    const symbols = new Map<string, number>();
    for (const { inputs, maxAgeNs } of this.#options.plan.assets)
      for (const input of inputs) {
        if (input.source !== source) continue;
        const maxAgeMs = Number(maxAgeNs / NS_PER_MS);
        symbols.set(input.symbol, Math.min(maxAgeMs, symbols.get(input.symbol) ?? maxAgeMs));
      }
    return symbols;
  }

  #sinkOf(source: string): FrameSink {
    const { clock, recorder } = this.#options;
    return {
      begin: (symbols) => {
        const connection = ++this.#connections;
        recorder?.add(clock.nowNs(), { begin: connection, source, symbols });
        return { connection, session: this.#room.open(connection, source, symbols) };
      },
      end: (connection) => {
        recorder?.add(clock.nowNs(), { end: connection });
        this.#room.close(connection);
      },
      read: (connection, frame): readonly MarketEvent[] => {
        const atNs = clock.nowNs();
        recorder?.add(atNs, { read: connection, source, frame });
        return this.#room.read(connection, source, frame, atNs);
      },
      warn: (text) => this.#warnings.add(`${source}: ${text}`),
    };
  }

  #tick(): void {
    const { plan, clock, schedule, recorder } = this.#options;
    const everyMs = Number(plan.publish.everyNs / NS_PER_MS);
    this.#cancelTick = schedule(() => {
      const nowNs = clock.nowNs();
      recorder?.add(nowNs, { tick: true });
      this.#room.tick(nowNs);
      this.#tick();
    }, everyMs);
  }
}

/** Looks up the values of headers. A missing variable is named; its value is shown nowhere. */
function headersOf(
  headers: Readonly<Record<string, string | { readonly env: string }>>,
  env: SourceRunOptions['env'],
  sink: FrameSink,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]): [string, string][] => {
      const text = typeof value === 'string' ? value : env[value.env];
      if (text !== undefined) return [[name, text]];
      sink.warn(`the environment has no ${(value as { env: string }).env}, so header ${name} is not sent`);
      return [];
    }),
  );
}
