import { cpSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { listSegments, logFolderOf } from '../../../src/log/disk/segment.js';
import { hourOf, hourPath, listHourFiles, pastFolderOf } from '../../../src/log/past/hour_paths.js';
import type { SignedAggregate } from '../../../src/model/signed_price.js';
import type { TimeNs } from '../../../src/model/time.js';
import { FakeClock } from '../../clock/fake_clock.js';
import { sampleAggregate, sampleAsset, samplePublisher, units } from '../store/sample.js';
import { aggregateOf, aggregatesOf, DAY_NS, evmName, HOUR_START_NS, inputOf, textOf } from './sample_past.js';
import { linesOf, openWriter, readerOf, sealAll, textOfEntry, WrittenPast } from './written_past.js';

const SECOND_NS = 1_000_000_000n;
const HOUR_NS = 3_600n * SECOND_NS;
const BTC = evmName('BTCUSD');

const at = (seconds: number) => (HOUR_START_NS + BigInt(seconds) * SECOND_NS) as TimeNs;
const one = (symbol: string, seconds: number) =>
  aggregateOf(symbol, at(seconds), [inputOf(symbol, 0, at(seconds))]);
const pathOf = (dir: string, hours: number, kind: 'jsonl' | 'inputs') =>
  hourPath(pastFolderOf(dir), hourOf(HOUR_START_NS) + hours, kind);

async function textsOf(dir: string, name = BTC): Promise<string[]> {
  return (await linesOf(dir, name)).map(textOfEntry);
}

/** Writes aggregates, with each list in a segment of its own, and moves all of them into files. */
async function writeSegments(dir: string, ...lists: (readonly SignedAggregate[])[]): Promise<void> {
  for (const list of lists) {
    const past = await WrittenPast.open(dir);
    await past.write(list);
    await past.close();
  }
  await sealAll(dir);
}

test('each line is read as it was written, from the log and from the files', async (t) => {
  const dir = t.testdir();
  const evm = sampleAsset(0);
  const stark = sampleAsset(1, { signatureType: 'stark', aggregation: 'weighted average' });
  const publishers = [samplePublisher(0), samplePublisher(1)];
  const starkPublisher = samplePublisher(2, { signatureType: 'stark', key: Buffer.alloc(32, 7) });
  const odd = [units(-42), units(0), 2n ** 127n - 1n].map((price, i) =>
    sampleAggregate(evm, publishers, price as never, (HOUR_START_NS + 5n + BigInt(i)) as TimeNs),
  );
  const [whole] = odd[2]!.inputs;
  const inputs = ['{"€":[{},{"publisher_key":"x"}]}', '{"msg_hash":""}', undefined].map((metadata, i) => ({
    ...whole!,
    wire: { ...whole!.wire, metadata, msgHash: i === 2 ? '0x1' : whole!.wire.msgHash },
  }));
  odd.push({ ...odd[2]!, inputs, signedAtNs: (HOUR_START_NS + 9n) as TimeNs });
  const starks = [sampleAggregate(stark, [starkPublisher], units(7), (HOUR_START_NS + 8n) as TimeNs)];
  const many = [...aggregatesOf('BTCUSD', HOUR_START_NS, 600)];
  const past = await WrittenPast.open(dir);
  await past.write([...odd, ...starks, ...many]);
  const expectAll = async (where: string) => {
    t.strictSame(await textsOf(dir, odd[0]!), odd.map(textOf), `odd texts, ${where}`);
    t.strictSame(await textsOf(dir, stark), starks.map(textOf), `Stark, ${where}`);
    t.strictSame(await textsOf(dir), many.map(textOf), `three members, ${where}`);
  };
  await expectAll('from the log');
  await past.close();
  await sealAll(dir);
  t.equal(listSegments(logFolderOf(dir)).length, 1);
  await expectAll('from the files');
});

test('each hour has copies of what was in force, of configured assets only, and a range has none twice', async (t) => {
  const dir = t.testdir();
  const slow = [one('SLOW', 1), one('GONE', 2)];
  const past = await WrittenPast.open(dir, { isConfigured: (assetKey) => assetKey !== 'GONE evm' });
  await past.write([...slow, ...aggregatesOf('BTCUSD', HOUR_START_NS, 40, { stepNs: 300n * SECOND_NS })]);
  await past.sealed();
  const reader = readerOf(dir);
  const lineAt = async (symbol: string) => (await reader.inForce(evmName(symbol), at(10_900)))?.kind;
  t.equal(await lineAt('SLOW'), 'priced');
  t.equal(await lineAt('GONE'), undefined);
  t.equal((await linesOf(dir, evmName('SLOW'))).length, 1);
  await reader.close();
  await past.close();
});

test('a move that a kill interrupted is repeated, and gives the same files', async (t) => {
  const dir = t.testdir();
  const all = [...aggregatesOf('BTCUSD', HOUR_START_NS, 300)];
  const folder = join(dir, 'whole');
  await writeSegments(folder, all.slice(0, 100));
  const past = await WrittenPast.open(folder);
  await past.write(all.slice(100));
  await past.close();
  const before = join(dir, 'before');
  cpSync(folder, before, { recursive: true });
  await sealAll(folder);
  for (const kind of ['jsonl', 'inputs'] as const)
    for (const part of [0, 0.5, 0.99, 1]) {
      const copy = join(dir, `${kind} ${part}`);
      cpSync(before, copy, { recursive: true });
      const [old, whole] = [readFileSync(pathOf(before, 0, kind)), readFileSync(pathOf(folder, 0, kind))];
      const size = old.length + Math.floor((whole.length - old.length) * part);
      writeFileSync(pathOf(copy, 0, kind), Buffer.concat([whole.subarray(0, size), Buffer.alloc(9)]));
      t.strictSame(await textsOf(copy), all.map(textOf), 'before the move is repeated');
      await sealAll(copy);
      t.strictSame(await textsOf(copy), all.map(textOf), `${kind}, ${part}`);
      t.strictSame(readFileSync(pathOf(copy, 0, kind)), whole, 'the same bytes');
    }
});

test('what an older log or an older past does not know is a loss with both borders, never the older price', async (t) => {
  const dir = t.testdir();
  const all = [10, 20, 30, 40].map((seconds) => one('BTCUSD', seconds));
  const start = join(dir, 'start');
  await writeSegments(start, [all[0]!]);
  const later = join(dir, 'later');
  cpSync(start, later, { recursive: true });
  await writeSegments(later, [all[1]!], [all[2]!]);
  for (const [where, restored, kept] of [
    ['an older log', 'log', 'past'],
    ['an older past', 'past', 'log'],
  ] as const) {
    const copy = join(dir, where);
    cpSync(join(start, restored), join(copy, restored), { recursive: true });
    cpSync(join(later, kept), join(copy, kept), { recursive: true });
    const past = await WrittenPast.open(copy);
    await past.write([all[3]!]);
    const known = restored === 'log' ? all[2]! : all[0]!;
    const lost = { name: 'LostRange', firstNs: known.signedAtNs + 1n, lastNs: at(40) - 1n };
    const check = async () => {
      const reader = readerOf(copy);
      const lineAt = async (timeNs: bigint) => textOfEntry((await reader.inForce(BTC, timeNs))!);
      t.equal(await lineAt(known.signedAtNs), textOf(known), where);
      await t.rejects(reader.inForce(BTC, known.signedAtNs + 1n), lost, where);
      await t.rejects(reader.inForce(BTC, at(40) - 1n), lost, where);
      t.equal(await lineAt(at(40)), textOf(all[3]!), where);
      await t.rejects(linesOf(copy, BTC), lost, `${where}: a range says it too`);
      await reader.close();
    };
    await check();
    await past.sealed();
    await past.close();
    await sealAll(copy);
    await check();
  }
});

test('a missing, short or unlisted file is said and is no retention', async (t) => {
  const dir = t.testdir();
  await writeSegments(
    dir,
    [0, 1, 2].map((hours) => one('BTCUSD', 10 + 3_600 * hours)),
  );
  const folder = pastFolderOf(dir);
  const damageIn = async () => {
    const writer = await openWriter(dir, { clock: new FakeClock(at(9_000)) });
    await writer.clean();
    return writer.damage.map((reason) => reason.slice(folder.length + 1));
  };
  t.same(await damageIn(), []);
  for (const kind of ['jsonl', 'inputs'] as const) rmSync(pathOf(dir, 1, kind));
  truncateSync(pathOf(dir, 0, 'inputs'), 5);
  writeFileSync(pathOf(dir, -5, 'jsonl'), 'foreign');
  t.match(await damageIn(), [
    /T01.inputs has 5 bytes instead of/,
    '2026-11-24T02.jsonl is missing',
    /T02.inputs is missing/,
    /2026-11-23T20.jsonl is not in the list of hours/,
  ]);
  const reader = readerOf(dir);
  const missing = { name: 'LostRange', damage: /T02.jsonl is missing/ };
  const borders = { firstNs: at(3_610), lastNs: at(3_610) };
  await t.rejects(linesOf(dir, BTC, { fromNs: at(3_600) }), { ...missing, ...borders });
  await t.rejects(reader.inForce(evmName('ETHUSD'), at(4_000)), missing);
  const copied = await reader.inForce(BTC, at(5_000));
  t.equal(textOfEntry(copied!), textOf(one('BTCUSD', 3_610)), 'the next hour has a copy');
  await reader.close();
});

test('a damaged list of hours makes everything unknown, until the next process makes it again', async (t) => {
  const dir = t.testdir();
  const all = [10, 3_700, 7_300].map((seconds) => one('BTCUSD', seconds));
  await writeSegments(dir, all);
  const list = join(pastFolderOf(dir), 'hours');
  const sound = readFileSync(list);
  for (const damage of [
    () => rmSync(list),
    () => truncateSync(list, 30),
    () => writeFileSync(list, '{}\n'),
  ]) {
    damage();
    await t.rejects(linesOf(dir, BTC), { name: 'LostRange', damage: /list of hours/ });
    await openWriter(dir, { clock: new FakeClock(at(0)) });
    t.same(await textsOf(dir), all.map(textOf));
    t.same(readFileSync(list), sound);
  }
});

test('files are removed when their time is over', async (t) => {
  const dir = t.testdir();
  const all = [...aggregatesOf('BTCUSD', HOUR_START_NS, 10)];
  await writeSegments(dir, all);
  const clock = new FakeClock(HOUR_START_NS);
  for (const [afterNs, files] of [
    [7n * DAY_NS, ['jsonl', 'inputs']],
    [7n * DAY_NS + 2n * HOUR_NS, ['jsonl']],
    [90n * DAY_NS, ['jsonl']],
    [90n * DAY_NS + 2n * HOUR_NS, []],
  ] as const) {
    clock.timeNs = (HOUR_START_NS + afterNs) as TimeNs;
    const writer = await openWriter(dir, { clock });
    await writer.clean();
    t.same(writer.damage, []);
    const kinds = listHourFiles(pastFolderOf(dir)).map(({ kind }) => kind);
    t.same(new Set(kinds), new Set(files));
    const bare = (text: string) => (files.length === 1 ? text.replace(/,"signed_prices":.*$/, '}') : text);
    t.same(await textsOf(dir), files.length === 0 ? [] : all.map((each) => bare(textOf(each))));
  }
});

test('above its largest size the past loses its oldest hours, and warns before', async (t) => {
  const dir = t.testdir();
  const all = [0, 1, 2, 3, 4, 5].map((hour) => one('BTCUSD', 10 + 3_600 * hour));
  await writeSegments(dir, all);
  const said: string[] = [];
  const clock = new FakeClock(at(3_600 * 5 + 100));
  const cleaned = async (bytesMax: number | undefined) => {
    const writer = await openWriter(dir, { clock, bytesMax, logger: { error: (text) => said.push(text) } });
    await writer.clean();
    await writer.clean();
    return writer.figures;
  };
  const { bytes } = await cleaned(undefined);
  t.equal((await cleaned(bytes)).files, 12, 'the limit itself is allowed');
  t.match(said.splice(0).join('\n'), /^the past has \d+ bytes of storage.past.max_bytes [^\n]*$/, 'once');
  t.equal((await cleaned(2 * bytes)).files, 12);
  t.same(said, []);
  const after = await cleaned(bytes - 1);
  t.same([after.files, after.damage], [10, []]);
  t.same(await textsOf(dir), all.slice(1).map(textOf));
  t.equal((await cleaned(1)).files, 4, 'recent prices need the last 660 s');
});

test('a past that begins with a log of a cluster is complete from its first new aggregate', async (t) => {
  const startNs = HOUR_START_NS + HOUR_NS / 2n;
  const [early] = [...aggregatesOf('ETHUSD', startNs - 600n * SECOND_NS, 1)] as [SignedAggregate];
  const [earlier] = [...aggregatesOf('DOTUSD', startNs - HOUR_NS, 1)] as [SignedAggregate];
  const btc = [...aggregatesOf('BTCUSD', startNs, 20)];
  for (const [where, order] of [
    ['at the beginning', [early, earlier, ...btc]],
    ['in the middle', [...btc.slice(0, 10), early, earlier, ...btc.slice(10)]],
  ] as const) {
    const dir = join(t.testdir({}), where);
    const past = await WrittenPast.open(dir, { hasRepeated: true });
    for (const each of order) past.log.append(textOf(each));
    await past.log.durable();
    const check = async () => {
      const reader = readerOf(dir, { hasRepeated: true });
      t.equal(await reader.keptFrom(), btc[0]!.signedAtNs, where);
      for (const each of [early, earlier]) {
        const entry = await reader.inForce(evmName(each.symbol), btc[15]!.signedAtNs);
        t.equal(entry && textOfEntry(entry), textOf(each), `${where}: ${each.symbol} is in force`);
        const range = { fromNs: 0n, toNs: 2n ** 62n };
        t.same(await reader.blocks(evmName(each.symbol), range, true).nextFew(), [], 'and in no range');
      }
      await reader.close();
    };
    await check();
    await past.close();
    await sealAll(dir, { hasRepeated: true });
    await check();
  }
});
