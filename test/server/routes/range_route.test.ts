import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { listSegments, logFolderOf } from '../../../src/log/disk/segment.js';
import { FILE_KINDS, hourOf, hourPath, pastFolderOf } from '../../../src/log/past/hour_paths.js';
import type { TimeNs } from '../../../src/model/time.js';
import type { RouteError } from '../../../src/server/rest/route_result.js';
import { aggregateOf, aggregatesOf, HOUR_START_NS, inputOf, textOf } from '../../log/past/sample_past.js';
import { BTC, HOUR_NS, nextOf, openPast, type ReadRows, SECOND_NS } from './opened_past.js';

const bare = (text: string) => text.replace(/,"signed_prices":.*$/, '}');

/** Returns the rows of an answer, which is no error. */
function readRows(answer: ReadRows | RouteError): ReadRows {
  if ('error' in answer) throw new Error(answer.error);
  return answer;
}

test('a range has each aggregate to the last character, in parts', async (t) => {
  const { add, commit, range, rangeAnswer, paid } = await openPast(t);
  const all = [...aggregatesOf('BTCUSD', HOUR_START_NS, 600, { stepNs: 9n * SECOND_NS })];
  add(all);
  await commit();
  const times = all.map(({ signedAtNs }) => signedAtNs);
  const whole = { asset: 'BTCUSD', from: times[0]!, to: HOUR_START_NS + 9n * HOUR_NS };
  const read = readRows(await range(whole));
  t.match(read, { status: 200, rows: all.map(textOf), next: undefined });
  t.ok(read.parts > 3, 'in several parts');
  t.equal(paid(), 600);
  for (const [from, to] of [
    [0, 1],
    [254, 258],
    [399, 402],
    [10, 10],
  ] as const) {
    const query = { asset: 'BTCUSD', from: times[from]!, to: times[to]! };
    t.match(await range(query), { rows: all.slice(from, to).map(textOf) }, `${from} to ${to}`);
  }
  t.match(await range({ ...whole, to: times[599]! + 1n }), { rows: { length: 600 } });
  t.match(await range({ ...whole, to: times[599]! }), { rows: { length: 599 } });
  t.match(await range({ ...whole, to: '9000000000000000000' }), { rows: { length: 600 } }, 'until now');
  t.match(await range({ ...whole, detail: 'signature' }), { rows: all.map((one) => bare(textOf(one))) });
  const [first] = all;
  t.match(await range({ ...whole, detail: 'price', to: times[1]! }), {
    rows: [
      `{"timestamp":${first!.timestampNs},"asset_id":"BTCUSD","signature_type":"evm","trigger":"${first!.trigger}","price":"${first!.price}","signed_at":${first!.signedAtNs}}`,
    ],
  });
  t.match(await range({ ...whole, detail: 'price', format: 'csv', to: times[1]! }), {
    rows: [
      'signed_at,timestamp,price,asset_id,signature_type,trigger',
      new RegExp(`^${first!.signedAtNs},${first!.timestampNs},\\d+\\.\\d{18},BTCUSD,evm,`),
    ],
  });
  const parquet = await rangeAnswer({ ...whole, format: 'parquet' });
  t.match(parquet, { contentType: 'application/vnd.apache.parquet' });
});

test('an answer has range_rows rows, and the header has the address of the next ones', async (t) => {
  const written = { segmentBytesMax: 20_000 };
  const { add, commit, range } = await openPast(t, { written, rangeRowsMax: 50 });
  const all = [...aggregatesOf('BTCUSD', HOUR_START_NS, 170, { stepNs: 60n * SECOND_NS })];
  for (let i = 0; i < all.length; i += 17) {
    add(all.slice(i, i + 17));
    await commit();
  }
  const rows: string[] = [];
  const sizes: number[] = [];
  const from = String(all[0]!.signedAtNs);
  const to = String(HOUR_START_NS + 9n * HOUR_NS);
  const first = { asset: 'BTCUSD', from, to, detail: 'whole' };
  let query: URLSearchParams | undefined = new URLSearchParams(first);
  while (query !== undefined && sizes.length < 10) {
    const read = readRows(await range(Object.fromEntries(query)));
    rows.push(...read.rows);
    sizes.push(read.rows.length);
    query = read.next;
  }
  t.same(sizes, [50, 50, 50, 20]);
  t.same(rows, all.map(textOf), 'over hours, files and the log, each once');
});

test('with every, the last aggregate of each interval', async (t) => {
  const { add, commit, range, paid } = await openPast(t, { rangeRowsMax: 10 });
  const all = [...aggregatesOf('BTCUSD', HOUR_START_NS, 90, { stepNs: 7n * SECOND_NS })];
  add(all);
  await commit();
  const minutes = new Map(all.map((one) => [one.signedAtNs / (60n * SECOND_NS), textOf(one)]));
  const from = all[0]!.signedAtNs;
  const read = readRows(await range({ asset: 'BTCUSD', from, to: HOUR_START_NS + HOUR_NS, every: '1m' }));
  t.same(read.rows, [...minutes.values()].slice(0, 10));
  t.ok(paid() > 80, 'what was read is paid');
  const rest = await range(Object.fromEntries(read.next!));
  t.match(rest, { rows: [...minutes.values()].slice(10), next: undefined });
  for (const every of ['0s', '1', '1.5s', '1us', '400d', '-1s', ''])
    t.match(await range({ asset: 'BTCUSD', from, to: from, every }), { status: 400, error: /^every / });
});

test('bad parameters are named', async (t) => {
  const { add, commit, range, clock } = await openPast(t);
  const [old] = [...aggregatesOf('OLDUSD', HOUR_START_NS, 1)];
  add([old!]);
  await commit();
  const right = { asset: 'BTCUSD', from: old!.signedAtNs, to: clock.nowNs() };
  t.match(await range(right), { status: 200, rows: [] });
  const wrong: [Record<string, string | bigint>, number, RegExp][] = [
    [{ from: old!.signedAtNs - 1n }, 410, /^from is before/],
    [{ to: old!.signedAtNs - 1n }, 400, /^to lies before from; swap them$/],
    [{ from: 'x' }, 400, /^from is not an integer of UNIX nanoseconds/],
    [{ to: '1e18' }, 400, /^to is not/],
    [{ detail: 'all' }, 400, /^detail must be price, signature or whole$/],
    [{ format: 'xml' }, 400, /^format must be/],
    [{ signature_type: 'rsa' }, 400, /^signature_type must be/],
    [{ asset: 'NOUSD' }, 400, /^asset names an asset that is not configured .*: NOUSD; \/v1\/taxonomy/],
    [{ asset: 'btc/usd' }, 400, /: btc\/usd; did you mean BTCUSD\?$/],
    [{ asset: '' }, 400, /^asset names/],
  ];
  for (const [over, status, error] of wrong) t.match(await range({ ...right, ...over }), { status, error });
  const ofOld = await range({ ...right, asset: 'OLDUSD' });
  t.match(ofOld, { rows: [textOf(old!)] }, 'an asset that was configured');
  t.match(await range(right, ['DYDXUSD']), { status: 403, error: /BTCUSD/ });
  t.match(await range({ asset: 'BTCUSD', from: 0n, to: 1n }), { status: 410, keptFromNs: old!.signedAtNs });
});

test('ends of prices have no row, and the gap of an asset is named', async (t) => {
  const { add, commit, range, writer } = await openPast(t);
  const at = (seconds: number) => (HOUR_START_NS + BigInt(seconds) * SECOND_NS) as TimeNs;
  const one = (seconds: number) => aggregateOf('BTCUSD', at(seconds), [inputOf('BTCUSD', 0, at(seconds))]);
  const rows = [1, 2, 5].map(one);
  add(rows.slice(0, 2));
  await commit();
  writer.append(BTC, { state: 'ended', timeNs: at(3), minute: undefined });
  add(rows.slice(2));
  await commit();
  const query = { asset: 'BTCUSD', from: at(1), to: at(100) };
  t.match(await range(query), { rows: rows.map(textOf) });

  writer.append(BTC, { state: 'gap', timeNs: at(18), minute: undefined });
  add([one(40)]);
  await commit();
  const read = readRows(await range(query));
  t.match(read, { status: 200, rows: { length: 3 } }, 'all before');
  const lost = await range(Object.fromEntries(read.next!));
  t.match(lost, { status: 410, keptFromNs: at(40), damaged: { firstNs: at(18), lastNs: at(40) - 1n } });
  const inside = await range({ ...query, from: at(20), to: at(30) });
  t.match(inside, { status: 410, keptFromNs: undefined, damaged: { firstNs: at(20), lastNs: at(30) - 1n } });
  const rest = await range(Object.fromEntries(nextOf(lost as RouteError)!));
  t.match(rest, { rows: [textOf(one(40))], next: undefined });
});

for (const kind of FILE_KINDS)
  test(`an answer ends before damage of the ${kind}, and the next one names it and what follows`, async (t) => {
    const { folder, add, commit, range, damage, clock } = await openPast(t);
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
    const read = readRows(await range(query));
    t.match(read, { status: 200, rows: all.slice(0, 256).map(textOf) });
    const lost = await range(Object.fromEntries(read.next!));
    const damaged = { firstNs: all[256]!.signedAtNs, lastNs: all[511]!.signedAtNs };
    const error = `the signed prices of BTCUSD are not known from ${damaged.firstNs} to ${damaged.lastNs}`;
    t.match(lost, { status: 410, error, damaged });
    const rest = await range(Object.fromEntries(nextOf(lost as RouteError)!));
    t.match(rest, { rows: all.slice(512).map(textOf), next: undefined });
    t.match(damage, [path]);
    const signatures = await range({ ...query, detail: 'signature' });
    t.match(signatures, { status: 200, rows: { length: kind === 'inputs' ? 600 : 256 } });
  });

test('a token has few answers that are not read, and rows that are not paid wait', async (t) => {
  const { add, commit, startRange, rangeAnswer } = await openPast(t);
  const all = [...aggregatesOf('BTCUSD', HOUR_START_NS, 100)];
  add(all);
  await commit();
  const query = { asset: 'BTCUSD', from: all[0]!.signedAtNs, to: HOUR_START_NS + HOUR_NS };
  const left = startRange(query);
  if (!('later' in left)) throw new Error('the answer is not late');
  left.abandon!();
  t.match(await left.later, { status: 499 }, 'a request whose client has disconnected is no longer counted');
  const answers = await Promise.all(Array.from({ length: 16 }, () => rangeAnswer(query)));
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
  t.match(await rangeAnswer(query), { status: 429, error: /^16 requests/ });
  refill();
  await Promise.all(first);
  await Promise.all(open.map((parts) => parts.return?.()));
  t.match(await rangeAnswer(query), { contentType: 'application/x-ndjson' }, 'after the readers have left');
});
