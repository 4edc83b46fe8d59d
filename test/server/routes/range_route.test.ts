import { readFileSync, writeFileSync } from 'node:fs';
import { type Test, test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { listSegments, logFolderOf } from '../../../src/log/disk/segment.js';
import { FILE_KINDS, hourOf, hourPath, pastFolderOf } from '../../../src/log/past/hour_paths.js';
import type { Holding } from '../../../src/log/records/holding.js';
import type { AssetName } from '../../../src/model/asset_map.js';
import { PRICE_MIN } from '../../../src/model/price.js';
import type { SignedAggregate } from '../../../src/model/signed_price.js';
import type { TimeNs } from '../../../src/model/time.js';
import { Token } from '../../../src/server/access/tokens.js';
import { openLoopTurns } from '../../../src/server/rest/loop_turns.js';
import type { RouteError } from '../../../src/server/rest/route.js';
import { PastAccess } from '../../../src/server/routes/past_access.js';
import { rangeRoutes } from '../../../src/server/routes/range_route.js';
import { FakeClock } from '../../clock/fake_clock.js';
import {
  aggregateOf,
  aggregatesOf,
  HOUR_START_NS,
  holdingOfAggregate,
  inputOf,
  textOf,
} from '../../log/past/sample_past.js';
import { readerOf, type WrittenOptions, WrittenPast } from '../../log/past/written_past.js';
import { sampleAsset } from '../../log/store/sample.js';
import { sampleToken } from '../access/sample_tokens.js';

const HOUR_NS = 3_600_000_000_000n;
const SECOND_NS = 1_000_000_000n;
const BTC = sampleAsset(0, { symbol: 'BTCUSD' });
const DYDX = sampleAsset(1, { symbol: 'DYDXUSD', signatureType: 'stark' });

interface ReadAnswer {
  readonly status: number;
  readonly rows: readonly string[];
  /** The parameters of the next answer. */
  readonly next: URLSearchParams | undefined;
  readonly parts: number;
}

/** Opens a past and a route that reads it. The clock is 10 hours after the beginning of the past. */
async function openRoute(t: Test, over: WrittenOptions = {}, rangeRowsMax = 1_000) {
  const folder = t.testdir();
  const clock = new FakeClock(HOUR_START_NS + 10n * HOUR_NS);
  const writer = await WrittenPast.open(folder, { clock, ...over });
  const newest = new Map<string, Holding>();
  const damage: string[] = [];
  const reader = readerOf(folder);
  let paid = 0;
  const options = {
    findAsset: (symbol: string) => [BTC, DYDX].find((asset) => asset.symbol === symbol),
    past: reader,
    newest: ({ symbol }: AssetName) => newest.get(symbol),
    pastTurns: openLoopTurns(),
    onPastDamage: (reason: string) => damage.push(reason),
    clock,
    rangeRowsMax,
  };
  const [[, route] = []] = rangeRoutes(options, new PastAccess(options));
  const resultOf = (query: Record<string, string | bigint>, only?: string[]) => {
    const token = new Token(sampleToken('alice', only && { assets: new Set(only) }));
    const texts = Object.entries(query).map(([name, value]) => [name, String(value)] as const);
    return route!.handle(new Map(texts), token);
  };
  const answerOf = async (query: Record<string, string | bigint>, only?: string[]) => {
    const result = resultOf(query, only);
    return 'later' in result ? result.later : result;
  };
  return {
    folder,
    clock,
    writer,
    damage,
    answerOf,
    resultOf,
    paid: () => paid,
    async close(): Promise<void> {
      await reader.close();
      await writer.close();
    },
    add(aggregates: Iterable<SignedAggregate>): void {
      for (const aggregate of aggregates) {
        const holding = holdingOfAggregate(aggregate);
        writer.append(aggregate, holding);
        newest.set(aggregate.symbol, holding);
      }
    },
    async commit(): Promise<void> {
      await writer.log.durable();
    },
    async ask(query: Record<string, string | bigint>, only?: string[]): Promise<ReadAnswer | RouteError> {
      const answer = await answerOf(query, only);
      if ('error' in answer) return answer;
      if (!('open' in answer)) throw new Error('the answer is not streamed');
      const texts: string[] = [];
      const pay = async (rows: number) => {
        paid += rows;
      };
      for await (const part of answer.open(pay)) texts.push(Buffer.from(part).toString());
      return {
        status: 200,
        rows: texts.join('').split('\n').slice(0, -1),
        next: nextOf(answer.headers),
        parts: texts.length,
      };
    },
  };
}

function nextOf(headers: RouteError['headers']): URLSearchParams | undefined {
  const link = headers?.find(([name]) => name === 'Link')?.[1];
  const query = link && /^<\/v1\/prices\/range\?(.*)>; rel="next"$/.exec(link)?.[1];
  return query === undefined ? undefined : new URLSearchParams(query);
}

const bare = (text: string) => text.replace(/,"signed_prices":.*$/, '}');

test('a range has each aggregate to the last character, in parts', async (t) => {
  const { add, commit, ask, answerOf, paid, close } = await openRoute(t);
  const all = [...aggregatesOf('BTCUSD', HOUR_START_NS, 600, { stepNs: 9n * SECOND_NS })];
  add(all);
  await commit();
  const times = all.map(({ signedAtNs }) => signedAtNs);
  const whole = { asset: 'BTCUSD', from: times[0]!, to: HOUR_START_NS + 9n * HOUR_NS };
  const read = await ask(whole);
  t.match(read, { status: 200, rows: all.map(textOf), next: undefined });
  t.ok('parts' in read && read.parts > 3, 'in several parts');
  t.equal(paid(), 600);
  for (const [from, to] of [
    [0, 1],
    [254, 258],
    [399, 402],
    [10, 10],
    [0, 600],
  ] as const) {
    const query = { asset: 'BTCUSD', from: times[from]!, to: times[to] ?? whole.to };
    t.match(await ask(query), { rows: all.slice(from, to).map(textOf) }, `${from} to ${to}`);
  }
  t.match(await ask({ ...whole, to: times[599]! + 1n }), { rows: { length: 600 } });
  t.match(await ask({ ...whole, to: times[599]! }), { rows: { length: 599 } });
  t.match(await ask({ ...whole, to: '9000000000000000000' }), { rows: { length: 600 } }, 'until now');
  t.match(await ask({ ...whole, detail: 'signature' }), { rows: all.map((one) => bare(textOf(one))) });
  const [first] = all;
  t.match(await ask({ ...whole, detail: 'price', to: times[1]! }), {
    rows: [
      `{"timestamp":${first!.timestampNs},"asset_id":"BTCUSD","signature_type":"evm","trigger":"${first!.trigger}","price":"${first!.price}","signed_at":${first!.signedAtNs}}`,
    ],
  });
  t.match(await ask({ ...whole, detail: 'price', format: 'csv', to: times[1]! }), {
    rows: [
      'signed_at,timestamp,price,asset_id,signature_type,trigger',
      new RegExp(`^${first!.signedAtNs},${first!.timestampNs},\\d+\\.\\d{18},BTCUSD,evm,`),
    ],
  });
  const parquet = await answerOf({ ...whole, format: 'parquet' });
  t.match(parquet, { contentType: 'application/vnd.apache.parquet' });
  await close();
});

test('a Parquet answer whose range has a price with more than 38 digits has the prices as text', async (t) => {
  const { add, commit, answerOf, close } = await openRoute(t, {}, 2);
  const all = [...aggregatesOf('BTCUSD', HOUR_START_NS, 3)].map((one, i) => ({
    ...one,
    price: i === 2 ? PRICE_MIN : one.price,
  }));
  add(all);
  await commit();
  const typeIn = async (first: number) => {
    const query = { asset: 'BTCUSD', from: all[first]!.signedAtNs, to: HOUR_START_NS + HOUR_NS };
    const answer = await answerOf({ ...query, detail: 'price', format: 'parquet' });
    if (!('open' in answer)) throw new Error('the answer is not streamed');
    const parts: Uint8Array[] = [];
    for await (const part of answer.open(async () => {})) parts.push(part);
    return /DECIMAL\(38, 18\)|decimal text/.exec(Buffer.concat(parts).toString('latin1'))?.[0];
  };
  t.equal(await typeIn(0), 'DECIMAL(38, 18)', 'the price is in the next answer');
  t.equal(await typeIn(1), 'decimal text');
  await close();
});

test('an answer has range_rows rows, and the header has the address of the next ones', async (t) => {
  const { add, commit, ask, close } = await openRoute(t, { segmentBytesMax: 20_000 }, 50);
  const all = [...aggregatesOf('BTCUSD', HOUR_START_NS, 170, { stepNs: 60n * SECOND_NS })];
  for (let i = 0; i < all.length; i += 17) {
    add(all.slice(i, i + 17));
    await commit();
  }
  const rows: string[] = [];
  const sizes: number[] = [];
  let query = new URLSearchParams({
    asset: 'BTCUSD',
    from: String(all[0]!.signedAtNs),
    to: String(HOUR_START_NS + 9n * HOUR_NS),
    detail: 'whole',
  });
  for (let answers = 0; answers < 10; answers++) {
    const read = await ask(Object.fromEntries(query));
    if ('error' in read) throw new Error(read.error);
    rows.push(...read.rows);
    sizes.push(read.rows.length);
    if (read.next === undefined) break;
    query = read.next;
  }
  t.same(sizes, [50, 50, 50, 20]);
  t.same(rows, all.map(textOf), 'over hours, files and the log, each once');
  await close();
});

test('with every, the last aggregate of each interval', async (t) => {
  const { add, commit, ask, paid, close } = await openRoute(t, {}, 10);
  const all = [...aggregatesOf('BTCUSD', HOUR_START_NS, 90, { stepNs: 7n * SECOND_NS })];
  add(all);
  await commit();
  const minutes = new Map(all.map((one) => [one.signedAtNs / (60n * SECOND_NS), textOf(one)]));
  const from = all[0]!.signedAtNs;
  const read = await ask({ asset: 'BTCUSD', from, to: HOUR_START_NS + HOUR_NS, every: '1m' });
  if ('error' in read) throw new Error(read.error);
  t.same(read.rows, [...minutes.values()].slice(0, 10));
  t.ok(paid() > 80, 'what was read is paid');
  const rest = await ask(Object.fromEntries(read.next!));
  t.match(rest, { rows: [...minutes.values()].slice(10), next: undefined });
  for (const every of ['0s', '1', '1.5s', '1us', '400d', 's', '-1s', ''])
    t.match(await ask({ asset: 'BTCUSD', from, to: from, every }), { status: 400, error: /^every / }, every);
  await close();
});

test('bad parameters are named', async (t) => {
  const { add, commit, ask, clock, close } = await openRoute(t);
  const [old] = [...aggregatesOf('OLDUSD', HOUR_START_NS, 1)];
  add([old!]);
  await commit();
  const right = { asset: 'BTCUSD', from: old!.signedAtNs, to: clock.nowNs() };
  t.match(await ask(right), { status: 200, rows: [] });
  const wrong: [Record<string, string | bigint>, number, RegExp][] = [
    [{ from: old!.signedAtNs - 1n }, 410, /^from is before/],
    [{ to: old!.signedAtNs - 1n }, 400, /^to lies before from; swap them$/],
    [{ from: 'x' }, 400, /^from is not an integer of UNIX nanoseconds/],
    [{ to: '1e18' }, 400, /^to is not/],
    [{ detail: 'all' }, 400, /^detail must be price, signature or whole$/],
    [{ format: 'xml' }, 400, /^format must be/],
    [{ signature_type: 'rsa' }, 400, /^signature_type must be/],
    [
      { asset: 'NOUSD' },
      400,
      /^asset names an asset that is not configured .*: NOUSD; \/v1\/taxonomy lists all names$/,
    ],
    [{ asset: 'btc/usd' }, 400, /: btc\/usd; did you mean BTCUSD\?$/],
    [{ asset: '' }, 400, /^asset names/],
  ];
  for (const [over, status, error] of wrong) t.match(await ask({ ...right, ...over }), { status, error });
  t.match(await ask({ ...right, asset: 'OLDUSD' }), { rows: [textOf(old!)] }, 'an asset that was configured');
  t.match(await ask(right, ['DYDXUSD']), { status: 403, error: /BTCUSD/ });
  t.match(await ask({ asset: 'BTCUSD', from: 0n, to: 1n }), { status: 410, keptFromNs: old!.signedAtNs });
  await close();
});

test('ends of prices have no row, and the gap of an asset is named', async (t) => {
  const { add, commit, ask, writer, close } = await openRoute(t);
  const at = (seconds: number) => (HOUR_START_NS + BigInt(seconds) * SECOND_NS) as TimeNs;
  const one = (seconds: number) => aggregateOf('BTCUSD', at(seconds), [inputOf('BTCUSD', 0, at(seconds))]);
  const rows = [1, 2, 5].map(one);
  add(rows.slice(0, 2));
  writer.append(BTC, { state: 'ended', timeNs: at(3), minute: undefined });
  add(rows.slice(2));
  await commit();
  const query = { asset: 'BTCUSD', from: at(1), to: at(100) };
  t.match(await ask(query), { rows: rows.map(textOf) });

  writer.append(BTC, { state: 'gap', timeNs: at(18), minute: undefined });
  add([one(40)]);
  await commit();
  const read = await ask(query);
  t.match(read, { status: 200, rows: { length: 3 } }, 'all before');
  if ('error' in read) throw new Error(read.error);
  const lost = await ask(Object.fromEntries(read.next!));
  t.match(lost, { status: 410, keptFromNs: at(40), damaged: { firstNs: at(18), lastNs: at(40) - 1n } });
  const inside = await ask({ ...query, from: at(20), to: at(30) });
  t.match(inside, { status: 410, keptFromNs: undefined, damaged: { firstNs: at(20), lastNs: at(30) - 1n } });
  const rest = await ask(Object.fromEntries(nextOf('headers' in lost ? lost.headers : undefined)!));
  t.match(rest, { rows: [textOf(one(40))], next: undefined });
  await close();
});

for (const kind of FILE_KINDS)
  test(`an answer ends before damage of the ${kind}, and the next one names it and what follows`, async (t) => {
    const { folder, add, commit, ask, damage, clock, close } = await openRoute(t);
    const all = [...aggregatesOf('BTCUSD', HOUR_START_NS, 600)];
    add(all);
    await commit();
    clock.timeNs += HOUR_NS;
    add(aggregatesOf('BTCUSD', HOUR_START_NS + HOUR_NS, 1));
    await commit();
    await eventually(() => listSegments(logFolderOf(folder)).length === 1);
    const path = hourPath(pastFolderOf(folder), hourOf(HOUR_START_NS), kind);
    const bytes = readFileSync(path);
    bytes[bytes.length >> 1]! ^= 1;
    writeFileSync(path, bytes);
    const query = { asset: 'BTCUSD', from: all[0]!.signedAtNs, to: HOUR_START_NS + HOUR_NS };
    const read = await ask(query);
    t.match(read, { status: 200, rows: all.slice(0, 256).map(textOf) });
    if ('error' in read) throw new Error(read.error);
    const lost = await ask(Object.fromEntries(read.next!));
    const damaged = { firstNs: all[256]!.signedAtNs, lastNs: all[511]!.signedAtNs };
    const error = `the signed prices of BTCUSD are not known from ${damaged.firstNs} to ${damaged.lastNs}`;
    t.match(lost, { status: 410, error, damaged });
    const rest = await ask(Object.fromEntries(nextOf('headers' in lost ? lost.headers : undefined)!));
    t.match(rest, { rows: all.slice(512).map(textOf), next: undefined });
    t.match(damage, [path]);
    const signatures = await ask({ ...query, detail: 'signature' });
    t.match(signatures, { status: 200, rows: { length: kind === 'inputs' ? 600 : 256 } });
    await close();
  });

test('a range is empty, not less, while its aggregates are not on disk', async (t) => {
  const { add, commit, ask, clock, close } = await openRoute(t);
  const all = [...aggregatesOf('BTCUSD', clock.nowNs() - 20n * SECOND_NS, 3)];
  add(all.slice(0, 1));
  await commit();
  add(all.slice(1));
  const asked = ask({ asset: 'BTCUSD', from: all[0]!.signedAtNs, to: clock.nowNs() });
  await new Promise((resolve) => setTimeout(resolve, 100));
  await commit();
  t.match(await asked, { rows: all.map(textOf) });
  await close();
});

test('a request whose client has disconnected gets no more turns', async (t) => {
  const { add, commit, resultOf, close } = await openRoute(t);
  const all = [...aggregatesOf('BTCUSD', HOUR_START_NS, 100)];
  add(all);
  await commit();
  const query = { asset: 'BTCUSD', from: all[0]!.signedAtNs, to: HOUR_START_NS + HOUR_NS };
  const left = resultOf(query);
  if (!('later' in left)) throw new Error('the answer is not late');
  left.abandon!();
  t.match(await left.later, { status: 499 });
  const others = Array.from({ length: 16 }, () => resultOf(query));
  for (const other of others) t.ok('later' in other && other.later, 'the request is no longer counted');
  await Promise.all(others.map((other) => 'later' in other && other.later));
  await close();
});

test('a token has few answers that are not read, and rows that are not paid wait', async (t) => {
  const { add, commit, answerOf, close } = await openRoute(t);
  const all = [...aggregatesOf('BTCUSD', HOUR_START_NS, 100)];
  add(all);
  await commit();
  const query = { asset: 'BTCUSD', from: all[0]!.signedAtNs, to: HOUR_START_NS + HOUR_NS };
  const answers = await Promise.all(Array.from({ length: 16 }, () => answerOf(query)));
  let refill = () => {};
  const rich = new Promise<void>((resolve) => {
    refill = resolve;
  });
  const open = answers.map((answer) => {
    if (!('open' in answer)) throw new Error('the answer is not streamed');
    return answer.open(() => rich)[Symbol.asyncIterator]();
  });
  const first = open.map((parts) => parts.next());
  await new Promise((resolve) => setTimeout(resolve, 50));
  t.match(await answerOf(query), { status: 429, error: /^16 requests/ });
  refill();
  await Promise.all(first);
  await Promise.all(open.map((parts) => parts.return?.()));
  t.match(await answerOf(query), { contentType: 'application/x-ndjson' }, 'after the readers have left');
  await close();
});
