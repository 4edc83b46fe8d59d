import type { Test } from 'tap';
import type { Holding } from '../../../src/log/records/holding.js';
import type { AssetName } from '../../../src/model/asset_map.js';
import type { SignedAggregate } from '../../../src/model/signed_price.js';
import { Token } from '../../../src/server/access/tokens.js';
import { openLoopTurns } from '../../../src/server/rest/loop_turns.js';
import type { RouteAnswer, RouteError } from '../../../src/server/rest/route_result.js';
import { instantRoutes } from '../../../src/server/routes/instant_route.js';
import type { OlderPrices } from '../../../src/server/routes/older_prices.js';
import { PastAccess } from '../../../src/server/routes/past_access.js';
import { rangeRoutes } from '../../../src/server/routes/range_route.js';
import { keptSignedPrice } from '../../../src/server/schemas/past_schemas.js';
import { aggregatedSignedPrice } from '../../../src/server/schemas/value_schemas.js';
import { FakeClock } from '../../clock/fake_clock.js';
import { HOUR_START_NS, holdingOfAggregate } from '../../log/past/sample_past.js';
import { readerOf, type WrittenOptions, WrittenPast } from '../../log/past/written_past.js';
import { sampleAsset } from '../../log/store/sample.js';
import { sampleToken } from '../access/sample_tokens.js';

export const SECOND_NS = 1_000_000_000n;
export const HOUR_NS = 3_600n * SECOND_NS;
export const BTC = sampleAsset(0, { symbol: 'BTCUSD' });
const ETH = sampleAsset(1, { symbol: 'ETHUSD' });

/** The rows of an answer of a range. */
export interface ReadRows {
  readonly status: number;
  readonly rows: readonly string[];
  /** The parameters of the next answer. */
  readonly next: URLSearchParams | undefined;
  readonly parts: number;
}

type Query = Readonly<Record<string, string | bigint>>;

interface OpenedOptions {
  readonly written?: WrittenOptions;
  readonly rangeRowsMax?: number;
  readonly older?: OlderPrices;
}

/** Opens a past and the routes that read it. The clock is 10 hours after the beginning of the past. */
export async function openPast(t: Test, { written, rangeRowsMax = 1_000, older }: OpenedOptions = {}) {
  const folder = t.testdir();
  const clock = new FakeClock(HOUR_START_NS + 10n * HOUR_NS);
  const writer = await WrittenPast.open(folder, { clock, ...written });
  const newest = new Map<string, Holding>();
  const damage: string[] = [];
  const waiting: SignedAggregate[] = [];
  const past = readerOf(folder);
  t.teardown(async () => {
    await past.close();
    await writer.close();
  });
  let paid = 0;
  const options = {
    findAsset: (symbol: string) => [BTC, ETH].find((asset) => asset.symbol === symbol),
    past,
    newest: ({ symbol }: AssetName) => newest.get(symbol),
    pastTurns: openLoopTurns(),
    onPastDamage: (reason: string) => damage.push(reason),
    clock,
    assetsPerRequestMax: 3,
    rangeRowsMax,
    older,
  };
  const access = new PastAccess(options);
  const form = keptSignedPrice(aggregatedSignedPrice('tickseal'));
  const [[, instant] = []] = instantRoutes(options, access, form);
  const [[, range] = []] = rangeRoutes(options, access);
  const tokenOf = (only?: readonly string[]) =>
    new Token(sampleToken('alice', only && { assets: new Set(only) }));
  const startRange = (query: Query, only?: readonly string[]) => {
    const texts = Object.entries(query).map(([name, value]) => [name, String(value)] as const);
    return range!.handle(new Map(texts), tokenOf(only));
  };
  const rangeAnswer = async (query: Query, only?: readonly string[]) => {
    const result = startRange(query, only);
    return 'later' in result ? result.later : result;
  };
  return {
    folder,
    clock,
    writer,
    newest,
    damage,
    paid: () => paid,
    startRange,
    rangeAnswer,
    /** Adds aggregates, which are on disk after the next commit. */
    add(aggregates: Iterable<SignedAggregate>): void {
      for (const aggregate of aggregates) {
        waiting.push(aggregate);
        newest.set(aggregate.symbol, holdingOfAggregate(aggregate));
      }
    },
    async commit(): Promise<void> {
      for (const one of waiting.splice(0)) writer.append(one, holdingOfAggregate(one));
      await writer.log.durable();
    },
    /** Asks for the aggregates in force at a time. */
    async at(
      assets: string,
      timestamp: bigint | string,
      only?: readonly string[],
    ): Promise<RouteAnswer | RouteError> {
      const query = Object.entries({ assets, timestamp: String(timestamp) });
      const result = instant!.handle(new Map(query), tokenOf(only));
      const answer = 'later' in result ? await result.later : result;
      if ('open' in answer || 'parts' in answer) throw new Error('the answer is whole');
      return answer;
    },
    /** Asks for the aggregates of a range. */
    async range(query: Query, only?: readonly string[]): Promise<ReadRows | RouteError> {
      const answer = await rangeAnswer(query, only);
      if ('error' in answer) return answer;
      if (!('open' in answer)) throw new Error('the answer is not streamed');
      const texts: string[] = [];
      const pay = async (rows: number) => {
        paid += rows;
      };
      for await (const part of answer.open(pay)) texts.push(Buffer.from(part).toString());
      const rows = texts.join('').split('\n').slice(0, -1);
      return { status: 200, rows, next: nextOf(answer), parts: texts.length };
    },
  };
}

/** Returns the parameters of the next answer, which the header of an answer has. */
export function nextOf({ headers }: Pick<RouteError, 'headers'>): URLSearchParams | undefined {
  const link = headers?.find(([name]) => name === 'Link')?.[1];
  const query = link && /^<\/v1\/prices\/range\?(.*)>; rel="next"$/.exec(link)?.[1];
  return query === undefined ? undefined : new URLSearchParams(query);
}
