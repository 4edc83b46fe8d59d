import { readFileSync, writeFileSync } from 'node:fs';
import { type Test, test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { listSegments, logFolderOf } from '../../../src/log/disk/segment.js';
import { hourOf, hourPath, pastFolderOf } from '../../../src/log/past/hour_paths.js';
import type { Holding } from '../../../src/log/records/holding.js';
import { LOSS_ENTRY } from '../../../src/log/store/log_entries.js';
import type { AssetName } from '../../../src/model/asset_map.js';
import type { SignedAggregate } from '../../../src/model/signed_price.js';
import { Token } from '../../../src/server/access/tokens.js';
import { openLoopTurns } from '../../../src/server/rest/loop_turns.js';
import type { RouteAnswer, RouteError } from '../../../src/server/rest/route_result.js';
import { instantRoutes } from '../../../src/server/routes/instant_route.js';
import { PastAccess } from '../../../src/server/routes/past_access.js';
import { keptSignedPrice } from '../../../src/server/schemas/past_schemas.js';
import { aggregatedSignedPrice } from '../../../src/server/schemas/value_schemas.js';
import { FakeClock } from '../../clock/fake_clock.js';
import { aggregatesOf, HOUR_START_NS, holdingOfAggregate, textOf } from '../../log/past/sample_past.js';
import { readerOf, WrittenPast } from '../../log/past/written_past.js';
import { sampleAsset } from '../../log/store/sample.js';
import { sampleToken } from '../access/sample_tokens.js';

const HOUR_NS = 3_600_000_000_000n;
const SECOND_NS = 1_000_000_000n;
const BTC = sampleAsset(0, { symbol: 'BTCUSD' });
const ETH = sampleAsset(1, { symbol: 'ETHUSD' });

/** Opens a past and a route that reads it. The clock is 10 hours after the beginning of the past. */
async function openRoute(t: Test) {
  const folder = t.testdir();
  const clock = new FakeClock(HOUR_START_NS + 10n * HOUR_NS);
  const writer = await WrittenPast.open(folder, { clock });
  const newest = new Map<string, Holding>();
  const damage: string[] = [];
  const waiting: SignedAggregate[] = [];
  const reader = readerOf(folder, { onDamage: (reason) => damage.push(reason) });
  const options = {
    findAsset: (symbol: string) => [BTC, ETH].find((asset) => asset.symbol === symbol),
    past: reader,
    newest: ({ symbol }: AssetName) => newest.get(symbol),
    pastTurns: openLoopTurns(),
    onPastDamage: (reason: string) => damage.push(reason),
    clock,
    assetsPerRequestMax: 3,
  };
  const [[, route] = []] = instantRoutes(
    options,
    new PastAccess(options),
    keptSignedPrice(aggregatedSignedPrice('tickseal')),
  );
  return {
    folder,
    clock,
    writer,
    newest,
    damage,
    close: async () => {
      await reader.close();
      await writer.close();
    },
    add(aggregate: SignedAggregate): void {
      const holding = holdingOfAggregate(aggregate);
      waiting.push(aggregate);
      newest.set(aggregate.symbol, holding);
    },
    async commit(): Promise<void> {
      for (const one of waiting.splice(0)) writer.append(one, holdingOfAggregate(one));
      await writer.log.durable();
    },
    async ask(
      assets: string,
      timestamp: bigint | string,
      only?: string[],
    ): Promise<RouteAnswer | RouteError> {
      const token = new Token(sampleToken('alice', only && { assets: new Set(only) }));
      const query = new Map([
        ['assets', assets],
        ['timestamp', String(timestamp)],
      ]);
      const result = route!.handle(query, token);
      const answer = 'later' in result ? await result.later : result;
      if ('open' in answer || 'parts' in answer) throw new Error('the answer is whole');
      return answer;
    },
  };
}

const dataOf = (aggregate: SignedAggregate) => ({
  data: `{"${aggregate.symbol}":${textOf(aggregate)}}`,
});

test('each instant has the aggregate that was in force, to the last character', async (t) => {
  const { add, commit, ask, writer, clock, close } = await openRoute(t);
  t.same(await ask('BTCUSD', HOUR_START_NS), {
    status: 410,
    error: 'timestamp is before the signed prices that are kept',
    keptFromNs: undefined,
  });
  const all = [...aggregatesOf('BTCUSD', HOUR_START_NS, 600, { stepNs: 9n * SECOND_NS })];
  for (const aggregate of all) add(aggregate);
  const [eth] = [...aggregatesOf('ETHUSD', HOUR_START_NS + HOUR_NS, 1)];
  add(eth!);
  await commit();
  const ends = [0, 1, 2, 254, 255, 256, 257, 398, 399, 400, 401, 598];
  for (const i of ends) {
    const [one, next] = [all[i]!, all[i + 1]!];
    t.same(await ask('BTCUSD', one.signedAtNs), dataOf(one));
    t.same(await ask('BTCUSD', next.signedAtNs - 1n), dataOf(one));
  }
  t.same(await ask('BTCUSD', clock.nowNs() - HOUR_NS), dataOf(all.at(-1)!), 'the last one');
  const firstNs = all[0]!.signedAtNs;
  t.match(await ask('BTCUSD', firstNs - 1n), { status: 410, keptFromNs: firstNs });
  t.match(await ask('ETHUSD', firstNs), { status: 404, error: /timestamp/ });
  const one = await ask('ETHUSD,BTCUSD', firstNs);
  t.same(one, dataOf(all[0]!), 'an asset without one is left out');

  writer.append(BTC, { state: 'ended', timeNs: clock.nowNs(), minute: undefined });
  await commit();
  await close();
});

test('a token has few requests that wait, and others are answered beside them', async (t) => {
  const { ask, clock, close } = await openRoute(t);
  const asked = Array.from({ length: 17 }, () => ask('BTCUSD', clock.nowNs()));
  t.match(await asked[16], { status: 429, error: /^16 requests/ });
  t.match(await asked[0], { status: 410 });
  await Promise.all(asked);
  t.match(await ask('BTCUSD', clock.nowNs()), { status: 410 }, 'and again after they are answered');
  await close();
});

test('an asset that is no longer configured is found by its name at the time', async (t) => {
  const { add, commit, ask, newest, close } = await openRoute(t);
  const [old] = [...aggregatesOf('OLDUSD', HOUR_START_NS, 1)];
  const [btc] = [...aggregatesOf('BTCUSD', HOUR_START_NS, 1)];
  add(old!);
  add(btc!);
  newest.clear();
  await commit();
  const atNs = HOUR_START_NS + HOUR_NS;
  t.same(await ask('OLDUSD', atNs), dataOf(old!));
  t.match(await ask('OLDUSD', atNs, ['BTCUSD']), { status: 403, error: /OLDUSD/ });
  t.match(await ask('BTCUSD,NOUSD,XUSD', atNs), {
    status: 400,
    error: /NOUSD, XUSD; \/v1\/taxonomy lists all names$/,
  });
  t.match(await ask('btcusd,NOUSD', atNs), { status: 400, error: /btcusd, NOUSD; did you mean BTCUSD\?$/ });
  t.match(await ask('A,B,C,D', atNs), { status: 400, error: /assets_per_request is 3/ });
  await close();
});

test('timestamps are exact integers that do not lie in the future', async (t) => {
  const { ask, clock, close } = await openRoute(t);
  const nowNs = clock.nowNs();
  t.match(await ask('BTCUSD', nowNs + 1n), { status: 400, error: 'timestamp lies in the future' });
  for (const text of ['', '1.5', '1e18', '-1', '0x1', ' 1', '9'.repeat(19), '9'.repeat(20)])
    t.match(await ask('BTCUSD', text), { status: 400, error: /^timestamp is not an integer of UNIX nanos/ });
  t.match(await ask('BTCUSD', `9${'0'.repeat(18)}`), { status: 400, error: 'timestamp lies in the future' });
  t.match(await ask('BTCUSD', nowNs), { status: 410 });
  await close();
});

test('an aggregate that is signed and not on disk is waited for', async (t) => {
  const { add, commit, ask, clock, close } = await openRoute(t);
  const [first, second, third] = [...aggregatesOf('BTCUSD', clock.nowNs() - 20n * SECOND_NS, 3)];
  add(first!);
  await commit();
  add(second!);
  add(third!);
  const asked = ask('BTCUSD', second!.signedAtNs);
  let isAnswered = false;
  void asked.then(() => {
    isAnswered = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 200));
  t.notOk(isAnswered, 'nothing wrong is answered in the meantime');
  await commit();
  t.same(await asked, dataOf(second!));
  add([...aggregatesOf('BTCUSD', clock.nowNs() - 5n * SECOND_NS, 1)][0]!);
  t.match(await ask('BTCUSD', third!.signedAtNs), { status: 503, error: /BTCUSD$/ }, 'not without end');
  await close();
});

test('damage of one asset is named with both borders, and costs no other asset', async (t) => {
  const { folder, add, commit, ask, damage, clock, close } = await openRoute(t);
  const btc = [
    ...aggregatesOf('BTCUSD', HOUR_START_NS, 2),
    ...aggregatesOf('BTCUSD', HOUR_START_NS + HOUR_NS, 2),
  ];
  for (const aggregate of btc) add(aggregate);
  const eth = [
    ...aggregatesOf('ETHUSD', HOUR_START_NS, 1),
    ...aggregatesOf('ETHUSD', HOUR_START_NS + HOUR_NS, 1),
  ];
  for (const aggregate of eth) add(aggregate);
  await commit();
  clock.timeNs += HOUR_NS;
  add([...aggregatesOf('BTCUSD', HOUR_START_NS + 2n * HOUR_NS, 1)][0]!);
  await commit();
  await eventually(() => listSegments(logFolderOf(folder)).length === 1);
  const path = hourPath(pastFolderOf(folder), hourOf(HOUR_START_NS), 'jsonl');
  const bytes = readFileSync(path);
  // The members of BTCUSD are the first.
  bytes[400]! ^= 1;
  writeFileSync(path, bytes);
  const lost = { firstNs: btc[0]!.signedAtNs, lastNs: btc[2]!.signedAtNs - 1n };
  const error = `the signed prices of BTCUSD are not known from ${lost.firstNs} to ${lost.lastNs}`;
  t.same(await ask('BTCUSD', btc[0]!.signedAtNs), { status: 410, error, damaged: lost });
  t.match(await ask('ETHUSD', eth[0]!.signedAtNs), { data: /"ETHUSD"/ });
  t.match(damage[0], /^the lines at byte \d+ of .*T01.jsonl are damaged/);
  t.same(
    await ask('BTCUSD', btc[1]!.signedAtNs),
    dataOf(btc[1]!),
    'the next hour has a copy of the last one',
  );
  await close();
});

test('an instant after a loss is not known until the next aggregate of the asset', async (t) => {
  const { add, commit, ask, writer, close } = await openRoute(t);
  const all = [...aggregatesOf('BTCUSD', HOUR_START_NS, 4)];
  add(all[0]!);
  await commit();
  writer.log.append(LOSS_ENTRY);
  const [eth] = [
    ...aggregatesOf('ETHUSD', all[2]!.signedAtNs - 9n - 2_500_000_000n, 1, { stepNs: 2_480_000_000n }),
  ];
  add(eth!);
  for (const one of all.slice(2)) add(one);
  await commit();
  t.same(await ask('BTCUSD', all[0]!.signedAtNs), dataOf(all[0]!));
  const damaged = { firstNs: all[0]!.signedAtNs + 1n, lastNs: all[2]!.signedAtNs - 1n };
  for (const atNs of [damaged.firstNs, all[1]!.signedAtNs, damaged.lastNs])
    t.match(await ask('BTCUSD', atNs), { status: 410, damaged });
  t.same(await ask('BTCUSD', all[2]!.signedAtNs), dataOf(all[2]!));
  await close();
});

test('after a loss, a price that the start found is not in force', async (t) => {
  const { add, commit, ask, writer, clock, close } = await openRoute(t);
  const [found] = [...aggregatesOf('BTCUSD', HOUR_START_NS, 1)];
  add(found!);
  writer.log.append(LOSS_ENTRY);
  await commit();
  t.same(await ask('BTCUSD', clock.nowNs() - SECOND_NS), dataOf(found!), 'nothing is lost');
  writer.log.append(LOSS_ENTRY);
  await writer.log.durable();
  t.match(await ask('BTCUSD', clock.nowNs() - SECOND_NS), {
    status: 410,
    damaged: { firstNs: found!.signedAtNs + 1n, lastNs: clock.nowNs() - SECOND_NS },
  });
  await close();
});
