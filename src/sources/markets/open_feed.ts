import type { Schedule } from '../../client/connect/liveness.js';
import { type Clock, NS_PER_MS } from '../../model/time.js';
import { MARKETS } from '../adapters/built_in.js';
import { DAY_MS, type MarketRules } from '../adapters/market.js';
import { nearPairs } from '../near_pairs.js';
import type { SourceFault } from '../source_fault.js';
import type { BuiltInKind, RequestFields, SourceDefinition } from '../sources_schema.js';
import { CcxtConnection } from './ccxt_connection.js';
import { type CcxtExchange, loadCcxt } from './ccxt_library.js';
import { CommandFeed } from './command_feed.js';
import { ExchangeFeed } from './exchange_feed.js';
import type { ExchangeFeedOptions } from './exchange_line.js';
import { HttpFeed } from './http_feed.js';
import type { Connect } from './live_connection.js';
import { MarketConnection } from './market_connection.js';
import type { FrameSink, MarketFeed } from './market_feed.js';
import { checkPairs, listOfMarket, type PairList } from './pair_check.js';
import { TopAsker, type TopRequest } from './top_asker.js';

/** A source of the file, with its symbols. The value of a symbol is the silence, in milliseconds, after which its watchdog acts. */
export interface NamedSource<Definition extends SourceDefinition = SourceDefinition> {
  readonly name: string;
  readonly definition: Definition;
  readonly symbols: ReadonlyMap<string, number>;
}

export interface FeedWorld {
  readonly clock: Clock;
  readonly schedule: Schedule;
  readonly random: () => number;
  /** The environment variables that headers of HTTP sources may name. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder whose packages a `ccxt` source may use. */
  readonly folder: string;
  /** The signal that is aborted when the run is closed. */
  readonly signal: AbortSignal;
}

/** The feed of a source without the pairs that do not exist; `undefined` when nothing of the source can be used. */
export interface FeedOpening {
  readonly feed: MarketFeed | undefined;
  readonly faults: readonly SourceFault[];
}

type ExchangeDefinition = Extract<SourceDefinition, { kind: BuiltInKind }>;
type CcxtDefinition = Extract<SourceDefinition, { kind: 'ccxt' }>;

/** The delay before a failed read of a list of pairs is repeated. */
const LIST_AGAIN_MS = 60_000;
/** The interval at which the list is read to find halted pairs. The longest known list has 3 MB. */
const LIST_RENEW_MS = 600_000;
/** The longest delay of a timer. */
const TIMER_MS_MAX = 2 ** 31 - 1;
/** ccxt paces its own requests, and its sockets respect the limits of the exchanges. */
const CCXT_RULES: MarketRules = { silenceMs: 0, pauseMs: 0, pairsPerSocket: 100, renewMs: DAY_MS };

/** Prepares the feed of a source. Reads the source's list of pairs, if it has one. */
export async function openFeed(source: NamedSource, sink: FrameSink, world: FeedWorld): Promise<FeedOpening> {
  const { definition } = source;
  const { schedule, random, env } = world;
  const symbols = [...source.symbols.keys()];
  if (definition.kind === 'command') {
    // A command for several symbols restarts when all of them are silent.
    const maxSilenceMs = Math.min(2 * Math.max(...source.symbols.values()), TIMER_MS_MAX);
    const feed = new CommandFeed({ run: definition.run, symbols, maxSilenceMs, sink, schedule, random });
    return { feed, faults: [] };
  }
  if (definition.kind === 'http') {
    const { url, every } = definition;
    const everyMs = Number(every / NS_PER_MS);
    const request = requestOf(definition, env, sink);
    return { feed: new HttpFeed({ url, ...request, everyMs, symbols, sink, schedule }), faults: [] };
  }
  if (definition.kind === 'ccxt') return await openCcxt({ ...source, definition }, sink, world);
  return await openExchange({ ...source, definition }, sink, world);
}

async function openExchange(
  source: NamedSource<ExchangeDefinition>,
  sink: FrameSink,
  world: FeedWorld,
): Promise<FeedOpening> {
  const { kind, url, pairs_url, ticker_url } = source.definition;
  const market = MARKETS[kind];
  const { schedule } = world;
  const { rules, top } = market;
  // With a `url` in the configuration, the source may be another server than the exchange. The exchange's own REST prices could then be
  // wrong.
  const topUrl = ticker_url ?? (url === undefined ? top.url : undefined);
  const asker = topUrl === undefined ? undefined : new TopAsker({ top, url: topUrl, sink, schedule });
  const connect: Connect = (events) =>
    new MarketConnection({ url: url ?? market.url, rules, schedule, ...events });
  const list = listOfMarket(market, pairs_url ?? market.pairsUrl);
  return await openChecked(source, list, { rules, connect, asker }, sink, world);
}

async function openCcxt(
  source: NamedSource<CcxtDefinition>,
  sink: FrameSink,
  world: FeedWorld,
): Promise<FeedOpening> {
  const { exchange } = source.definition;
  const { schedule, random, folder } = world;
  const fault = (key: string, reason: string): FeedOpening => ({
    feed: undefined,
    faults: [{ source: source.name, at: { key }, reason }],
  });
  let create: () => CcxtExchange;
  let first: CcxtExchange;
  try {
    const library = await loadCcxt(folder);
    if (!library.exchanges.includes(exchange)) {
      const near = nearPairs(exchange, library.exchanges);
      return fault(
        'exchange',
        `ccxt has no exchange ${exchange}${near.length > 0 ? `; near it are ${near.join(', ')}` : ''}`,
      );
    }
    create = () => library.create(exchange);
    first = create();
  } catch (error) {
    return fault('kind', (error as Error).message);
  }
  // ccxt keeps its list, so every read but the first asks for a new one.
  let isRead = false;
  const list: PairList = {
    read: async () => {
      const markets = await first.loadMarkets(isRead);
      isRead = true;
      return Object.values(markets)
        .filter(({ active }) => active !== false)
        .map(({ symbol }) => symbol);
    },
  };
  const connect: Connect = (events) => {
    const instance = create();
    // The list is read only once, because it may have several megabytes.
    if (first.markets !== undefined) instance.setMarkets(first.markets, first.currencies);
    return new CcxtConnection({ exchange: instance, schedule, random, ...events });
  };
  return await openChecked(source, list, { rules: CCXT_RULES, connect }, sink, world);
}

/** Opens those pairs of a source that are in its list; all pairs while the list cannot be read. */
async function openChecked(
  { name, symbols }: NamedSource,
  list: PairList,
  ways: Pick<ExchangeFeedOptions, 'rules' | 'connect' | 'asker'>,
  sink: FrameSink,
  world: FeedWorld,
): Promise<FeedOpening> {
  const { clock, schedule, random, signal } = world;
  const report = await checkPairs(list, [...symbols.keys()], signal);
  const gone = new Set<string>();
  if (report.unread !== undefined && !signal.aborted) sink.warn(report.unread);
  // Over REST, a halted pair still returns its last prices, like a quiet pair.
  const asker = ways.asker && {
    ask: (pair: string, request: TopRequest) => {
      if (!gone.has(pair)) ways.asker!.ask(pair, request);
    },
    close: () => ways.asker!.close(),
  };
  const faults = report.faults.map(({ pair, reason }) => ({ source: name, at: { pair }, reason }));
  const nowMs = () => Number(clock.nowNs() / NS_PER_MS);
  const silences = (usable: readonly string[]) => new Map(usable.map((pair) => [pair, symbols.get(pair)!]));
  const pairs = silences(report.usable);
  const feed = new ExchangeFeed({ ...ways, asker, pairs, sink, schedule, nowMs, random });
  const join = (usable: readonly string[]) => feed.add(silences(usable));
  const all = [...symbols.keys()];
  const known = new Set(report.usable);
  checkAgain({ list, pairs: all, known, gone, join }, report.unread !== undefined, sink, world);
  return { feed, faults };
}

/** A list of pairs and the pairs of the file. */
interface CheckedList {
  readonly list: PairList;
  readonly pairs: readonly string[];
  /** The pairs in use. */
  readonly known: Set<string>;
  /** The pairs that were not trading at the last read of the list. */
  readonly gone: Set<string>;
  /** Begins to use pairs that trade now for the first time. */
  join(pairs: readonly string[]): void;
}

/**
 * Reads a list of pairs at intervals, and begins to use pairs that have joined it. A failed read causes only a warning, because the run
 * continues.
 */
function checkAgain(checked: CheckedList, isUnread: boolean, sink: FrameSink, world: FeedWorld): void {
  const { schedule, signal } = world;
  const { list, pairs, known, gone, join } = checked;
  if (signal.aborted) return;
  const check = async () => {
    signal.removeEventListener('abort', cancel);
    const { usable, faults, unread } = await checkPairs(list, pairs, signal);
    if (signal.aborted) return;
    for (const { pair, reason } of faults) sink.warn(`${pair}: ${reason}`);
    if (unread === undefined) {
      gone.clear();
      for (const { pair } of faults) gone.add(pair);
      sink.lacks(faults.length);
      const joined = usable.filter((pair) => !known.has(pair));
      for (const pair of joined) {
        known.add(pair);
        sink.warn(`${pair} trades now`);
      }
      join(joined);
    } else sink.warn(unread);
    checkAgain(checked, unread !== undefined, sink, world);
  };
  const cancel = schedule(() => void check(), isUnread ? LIST_AGAIN_MS : LIST_RENEW_MS);
  signal.addEventListener('abort', cancel, { once: true });
}

/** Finds the values for headers and queries. A fault names an unusable variable, but never its value. */
function requestOf(
  definition: { readonly headers: RequestFields; readonly query: RequestFields },
  env: FeedWorld['env'],
  sink: FrameSink,
) {
  const secrets = new Set<string>();
  const valuesOf = (fields: RequestFields, isAllowed: (text: string) => boolean) =>
    Object.fromEntries(
      Object.entries(fields).flatMap(([name, value]): [string, string][] => {
        if (typeof value === 'string') return [[name, value]];
        const text = env[value.env];
        if (text !== undefined && isAllowed(text)) {
          const inQuery = new URLSearchParams([['', text]]).toString().slice(1);
          for (const form of [text, JSON.stringify(text).slice(1, -1), encodeURIComponent(text), inQuery])
            if (form.length >= SECRET_CHARACTERS_MIN) secrets.add(form);
          return [[name, text]];
        }
        const lacking =
          text === undefined ? 'the environment has no' : 'no header may have the characters of';
        sink.warn(`${lacking} ${value.env}, so ${name} is not sent`);
        return [];
      }),
    );
  const headers = valuesOf(definition.headers, (text) => HEADER_VALUE.test(text));
  const query = valuesOf(definition.query, () => true);
  return { headers, query, secrets: [...secrets] };
}

const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** The shortest secret that is removed from answers. Shorter texts may occur in answers by chance. */
const SECRET_CHARACTERS_MIN = 8;
