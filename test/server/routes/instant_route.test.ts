import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { listSegments, logFolderOf } from '../../../src/log/disk/segment.js';
import { hourOf, hourPath, pastFolderOf } from '../../../src/log/past/hour_paths.js';
import { LOSS_ENTRY } from '../../../src/log/store/log_entries.js';
import type { SignedAggregate } from '../../../src/model/signed_price.js';
import { aggregatesOf, HOUR_START_NS, textOf } from '../../log/past/sample_past.js';
import { HOUR_NS, openPast, SECOND_NS } from './opened_past.js';

const dataOf = (aggregate: SignedAggregate) => ({
  data: `{"${aggregate.symbol}":${textOf(aggregate)}}`,
});

test('each instant has the aggregate that was in force, to the last character', async (t) => {
  const { add, commit, at, clock } = await openPast(t);
  t.same(await at('BTCUSD', HOUR_START_NS), {
    status: 410,
    error: 'timestamp is before the signed prices that are kept',
    keptFromNs: undefined,
  });
  const all = [...aggregatesOf('BTCUSD', HOUR_START_NS, 600, { stepNs: 9n * SECOND_NS })];
  add(all);
  add(aggregatesOf('ETHUSD', HOUR_START_NS + HOUR_NS, 1));
  await commit();
  // The last of an hour is 399, and a block of the file of an hour has 256 aggregates.
  for (const i of [0, 1, 255, 256, 398, 399, 400, 598]) {
    const [one, next] = [all[i]!, all[i + 1]!];
    t.same(await at('BTCUSD', one.signedAtNs), dataOf(one));
    t.same(await at('BTCUSD', next.signedAtNs - 1n), dataOf(one));
  }
  t.same(await at('BTCUSD', clock.nowNs() - HOUR_NS), dataOf(all.at(-1)!), 'the last one');
  const firstNs = all[0]!.signedAtNs;
  t.match(await at('BTCUSD', firstNs - 1n), { status: 410, keptFromNs: firstNs });
  t.match(await at('ETHUSD', firstNs), { status: 404, error: /timestamp/ });
  t.same(await at('ETHUSD,BTCUSD', firstNs), dataOf(all[0]!), 'an asset without one is left out');
});

test('an asset that is no longer configured is found by its name at the time', async (t) => {
  const { add, commit, at, newest, clock } = await openPast(t);
  const [old] = [...aggregatesOf('OLDUSD', HOUR_START_NS, 1)];
  add([old!, ...aggregatesOf('BTCUSD', HOUR_START_NS, 1)]);
  newest.clear();
  await commit();
  const atNs = HOUR_START_NS + HOUR_NS;
  t.same(await at('OLDUSD', atNs), dataOf(old!));
  t.match(await at('OLDUSD', atNs, ['BTCUSD']), { status: 403, error: /OLDUSD/ });
  t.match(await at('BTCUSD,NOUSD,XUSD', atNs), {
    status: 400,
    error: /NOUSD, XUSD; \/v1\/taxonomy lists all names$/,
  });
  t.match(await at('btcusd,NOUSD', atNs), { status: 400, error: /btcusd, NOUSD; did you mean BTCUSD\?$/ });
  t.match(await at('A,B,C,D', atNs), { status: 400, error: /assets_per_request is 3/ });
  const future = await at('BTCUSD', clock.nowNs() + 1n);
  t.match(future, { status: 400, error: 'timestamp lies in the future' });
});

test('an aggregate that is signed and not on disk is waited for', async (t) => {
  const { add, commit, at, clock } = await openPast(t);
  const [first, second, third] = [...aggregatesOf('BTCUSD', clock.nowNs() - 20n * SECOND_NS, 3)];
  add([first!]);
  await commit();
  add([second!, third!]);
  const asked = at('BTCUSD', second!.signedAtNs);
  let isAnswered = false;
  void asked.then(() => {
    isAnswered = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 200));
  t.notOk(isAnswered, 'nothing wrong is answered in the meantime');
  await commit();
  t.same(await asked, dataOf(second!));
  add(aggregatesOf('BTCUSD', clock.nowNs() - 5n * SECOND_NS, 1));
  t.match(await at('BTCUSD', third!.signedAtNs), { status: 503, error: /BTCUSD$/ }, 'not without end');
});

test('damage of one asset is named with both borders, and costs no other asset', async (t) => {
  const { folder, add, commit, at, damage, clock } = await openPast(t);
  const twoHours = (symbol: string, each: number) => [
    ...aggregatesOf(symbol, HOUR_START_NS, each),
    ...aggregatesOf(symbol, HOUR_START_NS + HOUR_NS, each),
  ];
  const [btc, eth] = [twoHours('BTCUSD', 2), twoHours('ETHUSD', 1)];
  add([...btc, ...eth]);
  await commit();
  clock.timeNs += HOUR_NS;
  add(aggregatesOf('BTCUSD', HOUR_START_NS + 2n * HOUR_NS, 1));
  await commit();
  await eventually(() => listSegments(logFolderOf(folder)).length === 1);
  const path = hourPath(pastFolderOf(folder), hourOf(HOUR_START_NS), 'jsonl');
  const bytes = readFileSync(path);
  // The members of BTCUSD are the first.
  bytes[400]! ^= 1;
  writeFileSync(path, bytes);
  const lost = { firstNs: btc[0]!.signedAtNs, lastNs: btc[2]!.signedAtNs - 1n };
  const error = `the signed prices of BTCUSD are not known from ${lost.firstNs} to ${lost.lastNs}`;
  t.same(await at('BTCUSD', btc[0]!.signedAtNs), { status: 410, error, damaged: lost });
  t.match(await at('ETHUSD', eth[0]!.signedAtNs), { data: /"ETHUSD"/ });
  t.match(damage[0], /^the lines at byte \d+ of .*T01.jsonl are damaged/);
  t.same(await at('BTCUSD', btc[1]!.signedAtNs), dataOf(btc[1]!), 'the next hour has a copy of the last one');
});

test('an instant after a loss is not known until the next aggregate of the asset', async (t) => {
  const { add, commit, at, writer } = await openPast(t);
  const all = [...aggregatesOf('BTCUSD', HOUR_START_NS, 4)];
  add(all.slice(0, 1));
  await commit();
  writer.log.append(LOSS_ENTRY);
  add(all.slice(2));
  await commit();
  t.same(await at('BTCUSD', all[0]!.signedAtNs), dataOf(all[0]!));
  const damaged = { firstNs: all[0]!.signedAtNs + 1n, lastNs: all[2]!.signedAtNs - 1n };
  for (const atNs of [damaged.firstNs, damaged.lastNs])
    t.match(await at('BTCUSD', atNs), { status: 410, damaged });
  t.same(await at('BTCUSD', all[2]!.signedAtNs), dataOf(all[2]!));
});

test('after a loss, a price that the start found is not in force', async (t) => {
  const { add, commit, at, writer, clock } = await openPast(t);
  const [found] = [...aggregatesOf('BTCUSD', HOUR_START_NS, 1)];
  const atNs = clock.nowNs() - SECOND_NS;
  add([found!]);
  writer.log.append(LOSS_ENTRY);
  await commit();
  t.same(await at('BTCUSD', atNs), dataOf(found!), 'nothing is lost');
  writer.log.append(LOSS_ENTRY);
  await writer.log.durable();
  const damaged = { firstNs: found!.signedAtNs + 1n, lastNs: atNs };
  t.match(await at('BTCUSD', atNs), { status: 410, damaged });
});
