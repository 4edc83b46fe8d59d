import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import type { AssetName } from '../../src/model/asset_map.js';
import type { SignedAggregate } from '../../src/model/signed_price.js';
import type { TimeNs } from '../../src/model/time.js';
import { PackedReader, PackedWriter } from '../../src/past/packed_bytes.js';
import { listHours, listLogs, logPath, tierPath } from '../../src/past/past_folder.js';
import { PastReader } from '../../src/past/past_reader.js';
import { PastWriter } from '../../src/past/past_writer.js';
import { FakeClock } from '../clock/fake_clock.js';
import { sampleAggregate, sampleAsset, samplePublisher, units } from '../store/sample.js';
import {
  aggregateOf,
  aggregatesOf,
  DAY_NS,
  entriesOf,
  evmName,
  HOUR_START_NS,
  holdingOfAggregate,
  inputOf,
  openPast,
  pastOptionsOf,
  textOf,
  textsIn,
} from './sample_past.js';

const HOUR_NS = 3_600_000_000_000n;
const BTC = evmName('BTCUSD');

/** Writes aggregates, with a commit after every few aggregates. */
async function writeAll(
  past: PastWriter,
  aggregates: Iterable<SignedAggregate>,
  perCommit = 20,
): Promise<void> {
  let waiting = 0;
  for (const aggregate of aggregates) {
    past.append(aggregate, holdingOfAggregate(aggregate));
    if (++waiting % perCommit === 0) await commit(past);
  }
  await commit(past);
}

async function commit(past: PastWriter): Promise<void> {
  await past.write();
  void past.committed();
}

test('what was written is read to the last character, from the log and from the files', async (t) => {
  const folder = t.testdir();
  const past = await openPast(folder);
  const stark = sampleAsset(1, { signatureType: 'stark', aggregation: 'weighted average' });
  const publishers = [
    samplePublisher(0),
    samplePublisher(1),
    samplePublisher(2, { signatureType: 'stark', key: Buffer.alloc(32, 7) }),
  ];
  const odd = [
    sampleAggregate(sampleAsset(0), publishers.slice(0, 2), units(-42), (HOUR_START_NS + 5n) as TimeNs),
    sampleAggregate(sampleAsset(0), publishers.slice(0, 2), units(0), (HOUR_START_NS + 6n) as TimeNs),
    sampleAggregate(
      sampleAsset(0),
      publishers.slice(0, 2),
      (2n ** 127n - 1n) as never,
      (HOUR_START_NS + 7n) as TimeNs,
    ),
  ];
  const starkOnes = [sampleAggregate(stark, publishers.slice(2), units(7), (HOUR_START_NS + 8n) as TimeNs)];
  const many = [...aggregatesOf('BTCUSD', HOUR_START_NS, 600)];
  await writeAll(past, [...odd, ...starkOnes, ...many]);

  async function expectAll(where: string): Promise<void> {
    t.strictSame(textsIn(await entriesOf(folder, odd[0]!)), odd.map(textOf), `odd texts, ${where}`);
    t.strictSame(textsIn(await entriesOf(folder, stark)), starkOnes.map(textOf), `Stark, ${where}`);
    t.strictSame(textsIn(await entriesOf(folder, BTC)), many.map(textOf), `three blocks, ${where}`);
  }
  await expectAll('from the log');
  await past.close();
  await expectAll('after the end');
  const again = await openPast(folder);
  t.same(listLogs(folder), [], 'a start writes the log into the files');
  await expectAll('from the files');
  const [entry] = await entriesOf(folder, BTC);
  t.match(entry, { shown: { serviceName: 'tickseal', encodedAssetId: 'encoded BTCUSD' }, hasInputs: true });
  await again.close();
});

test('the entry in force at any time', async (t) => {
  const folder = t.testdir();
  const past = await openPast(folder, { chunkBytesMax: 20_000 });
  // Three hours with a pause of an hour and a half, so that one hour has no file.
  const times = [10n, 20n, 30n, 3_599n, 9_100n, 9_200n].map(
    (s) => (HOUR_START_NS + s * 1_000_000_000n) as TimeNs,
  );
  const aggregates = times.map((timeNs) => aggregateOf('BTCUSD', timeNs, [inputOf('BTCUSD', 0, timeNs)]));
  const at = (seconds: bigint) => (HOUR_START_NS + seconds * 1_000_000_000n) as TimeNs;
  for (const aggregate of aggregates.slice(0, 3)) past.append(aggregate, holdingOfAggregate(aggregate));
  past.append(BTC, { state: 'ended', timeNs: at(60n), minute: undefined });
  await commit(past);
  past.append(BTC, holdingOfAggregate(aggregates[3]!));
  await commit(past);
  // The next process finds the end of the last hour at its start.
  past.append(BTC, { state: 'ended', timeNs: at(3_650n), minute: undefined });
  past.append(BTC, holdingOfAggregate(aggregates[4]!));
  past.append(BTC, holdingOfAggregate(aggregates[5]!));
  await commit(past);
  const reader = new PastReader(folder);
  const expected: [bigint, number | undefined][] = [
    [9n, undefined],
    [10n, 0],
    [29n, 1],
    [59n, 2],
    [60n, undefined],
    [3_599n, 3],
    [3_600n, 3],
    [3_649n, 3],
    [3_650n, undefined],
    [9_099n, undefined],
    [9_100n, 4],
    [90_000n, 5],
  ];
  for (const [seconds, index] of expected) {
    const entry = await reader.inForce(BTC, at(seconds));
    const aggregate = entry?.kind === 'priced' ? entry.aggregate : undefined;
    t.equal(
      aggregate && textOf(aggregate),
      index === undefined ? undefined : textOf(aggregates[index]!),
      `after ${seconds} s`,
    );
  }
  t.equal(await reader.keptFrom(), times[0]);
  t.equal(await reader.inForce(evmName('ETHUSD'), at(60n)), undefined);
  await reader.close();
  await past.close();
});

test('every hour has what was in force at its beginning, once in a range', async (t) => {
  const folder = t.testdir();
  const past = await openPast(folder);
  const first = aggregateOf('SLOW', HOUR_START_NS, [inputOf('SLOW', 0, HOUR_START_NS)]);
  past.append(first, holdingOfAggregate(first));
  await writeAll(past, aggregatesOf('BTCUSD', HOUR_START_NS, 40, { stepNs: 300_000_000_000n }));
  await past.close();
  await (await openPast(folder)).close();
  t.equal(listHours(folder).signatures.length, 4);
  const reader = new PastReader(folder);
  const entry = await reader.inForce(evmName('SLOW'), HOUR_START_NS + 3n * HOUR_NS + 1_000_000_000n);
  t.equal(entry?.kind === 'priced' && textOf(entry.aggregate), textOf(first));
  t.equal((await entriesOf(folder, evmName('SLOW'))).length, 1);
  await reader.close();
});

test('an input that counts in ten aggregates is kept once, and the files have few bytes more than the signatures', async (t) => {
  const folder = t.testdir();
  const past = await openPast(folder);
  const names = Array.from({ length: 6 }, (_, i) => `ASSET${i}USD`);
  // An hour with an aggregate of each asset every 2.5 s: 400 a second with 1,000 assets.
  const count = 1_300;
  const all = names.map((name) => [...aggregatesOf(name, HOUR_START_NS, count)]);
  const byTime = all.flat().sort((a, b) => (a.signedAtNs < b.signedAtNs ? -1 : 1));
  await writeAll(past, byTime, 500);
  await past.close();
  await (await openPast(folder)).close();
  const inputs = new Set(byTime.flatMap((one) => one.inputs));
  const [hour] = listHours(folder).signatures;
  t.equal(listHours(folder).signatures.length, 1);
  const bytesOf = (tier: string) =>
    readdirSync(folder)
      .filter((name) => name.endsWith(tier))
      .reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  t.type(hour, 'number');
  // The bytes that no format could omit: `r`, `s` and the root, the digits of the price, the parts of both times that cannot be
  // derived; for an input `r`, `s`, its price and its time.
  const ofAggregate = 32 + 32 + 32 + 3 + 4 + 4;
  const ofInput = 32 + 32 + 2 + 4;
  const signatures = bytesOf('signatures') / byTime.length;
  const whole = (bytesOf('signatures') + bytesOf('inputs')) / byTime.length;
  const leastWhole = ofAggregate + (ofInput * inputs.size) / byTime.length;
  t.comment(`${signatures.toFixed(1)} bytes an aggregate, least ${ofAggregate}`);
  t.comment(`${whole.toFixed(1)} bytes with inputs, least ${leastWhole.toFixed(1)}`);
  t.ok(signatures <= 1.25 * ofAggregate);
  t.ok(whole <= 1.25 * leastWhole);
});

test('a tier is removed when its time is over, and an aggregate then has no inputs', async (t) => {
  const folder = t.testdir();
  const clock = new FakeClock(HOUR_START_NS);
  const aggregates = [...aggregatesOf('BTCUSD', HOUR_START_NS, 10)];
  const past = await openPast(folder, { clock });
  await writeAll(past, aggregates);
  await past.close();
  for (const [afterNs, signatures, inputs] of [
    [7n * DAY_NS, 1, 1],
    [7n * DAY_NS + 2n * HOUR_NS, 1, 0],
    [90n * DAY_NS, 1, 0],
    [90n * DAY_NS + 2n * HOUR_NS, 0, 0],
  ] as const) {
    clock.timeNs = HOUR_START_NS + afterNs;
    await (await openPast(folder, { clock })).close();
    const hours = listHours(folder);
    t.same([hours.signatures.length, hours.inputs.length], [signatures, inputs], `after ${afterNs} ns`);
    const entries = await entriesOf(folder, BTC);
    const expected =
      signatures === 0 ? [] : aggregates.map((one) => (inputs === 0 ? { ...one, inputs: [] } : one));
    t.strictSame(textsIn(entries), expected.map(textOf));
    t.ok(entries.every((entry) => entry.kind === 'priced' && entry.hasInputs === (inputs === 1)));
  }
});

test('a process that is killed at any moment loses nothing that was flushed, and nothing is there twice', async (t) => {
  const aggregates = [...aggregatesOf('BTCUSD', HOUR_START_NS, 60)];
  const dir = t.testdir();
  const folder = join(dir, 'killed');
  const past = await openPast(folder);
  const texts = aggregates.map(textOf);
  const sizes: number[] = [];
  const log = () => join(folder, 'running', readdirSync(join(folder, 'running'))[0]!);
  for (const aggregate of aggregates) {
    past.append(aggregate, holdingOfAggregate(aggregate));
    await commit(past);
    sizes.push(statSync(log()).size);
  }
  const bytes = statSync(log()).size;
  await past.close();
  for (let cut = 0; cut <= bytes; cut += 613) {
    const copy = join(dir, String(cut));
    cpSync(folder, copy, { recursive: true });
    truncateSync(join(copy, 'running', readdirSync(join(copy, 'running'))[0]!), cut);
    const whole = sizes.filter((size) => size <= cut).length;
    const again = await openPast(copy);
    t.strictSame(textsIn(await entriesOf(copy, BTC)), texts.slice(0, whole), `cut at byte ${cut}`);
    // The store's position may be behind the files, so the process applies a part of the cluster's log again.
    await writeAll(again, aggregates);
    t.strictSame(textsIn(await entriesOf(copy, BTC)), texts, `written again after byte ${cut}`);
    await again.close();
  }
});

test('a group that a killed process did not finish is written again', async (t) => {
  const aggregates = [...aggregatesOf('BTCUSD', HOUR_START_NS, 300)];
  const dir = t.testdir();
  const folder = join(dir, 'whole');
  const past = await openPast(folder);
  await writeAll(past, aggregates.slice(0, 100));
  await past.close();
  const middle = await openPast(folder);
  await writeAll(middle, aggregates.slice(100));
  await middle.close();
  const logs = join(dir, 'logs');
  cpSync(folder, logs, { recursive: true });
  await (await openPast(folder)).close();
  for (const tier of ['signatures', 'inputs'])
    for (const part of [0.5, 0.75, 0.99, 1]) {
      const copy = join(dir, `${tier} ${part}`);
      cpSync(logs, copy, { recursive: true });
      const name = readdirSync(folder).find((one) => one.endsWith(tier))!;
      const before = statSync(join(logs, name)).size;
      const after = readFileSync(join(folder, name));
      const size = before + Math.floor((after.length - before) * part);
      writeFileSync(join(copy, name), after.subarray(0, size));
      await (await openPast(copy)).close();
      t.strictSame(textsIn(await entriesOf(copy, BTC)), aggregates.map(textOf), `${tier}, ${part}`);
      t.strictSame(readFileSync(join(copy, name)), after, 'the same bytes');
    }
});

test('a group whose last bytes the disk lost is read from its log, and written again', async (t) => {
  const aggregates = [...aggregatesOf('BTCUSD', HOUR_START_NS, 300)];
  const dir = t.testdir();
  const folder = join(dir, 'whole');
  const past = await openPast(folder);
  await writeAll(past, aggregates);
  await past.close();
  const killed = join(dir, 'killed');
  cpSync(folder, killed, { recursive: true });
  await (await openPast(folder)).close();
  for (const tier of ['signatures', 'inputs']) {
    const name = readdirSync(folder).find((one) => one.endsWith(tier))!;
    const whole = readFileSync(join(folder, name));
    // After a loss of power, a file can have its full length and zeros in its last pages.
    for (const kept of [0.4, 0.9]) {
      const place = `${tier} ${kept}`;
      const copy = join(dir, place);
      cpSync(killed, copy, { recursive: true });
      cpSync(join(folder, name), join(copy, name));
      writeFileSync(join(copy, name), Buffer.from(whole).fill(0, Math.floor(kept * whole.length)));
      t.strictSame(textsIn(await entriesOf(copy, BTC)), aggregates.map(textOf), `${place}, log`);
      await (await openPast(copy)).close();
      t.same(listLogs(copy), []);
      t.strictSame(textsIn(await entriesOf(copy, BTC)), aggregates.map(textOf), `${place}, files`);
      t.strictSame(readFileSync(join(copy, name)), whole, 'the same bytes');
    }
  }
});

test('damage costs its block, and is named', async (t) => {
  const folder = t.testdir();
  const past = await openPast(folder);
  const names = ['AAA', 'BBB', 'CCC'];
  const all = names.map((name) => [...aggregatesOf(name, HOUR_START_NS, 30)]);
  await writeAll(past, all.flat());
  await past.close();
  await (await openPast(folder)).close();
  for (const tier of ['signatures', 'inputs']) {
    const path = join(folder, readdirSync(folder).find((one) => one.endsWith(tier))!);
    const sound = readFileSync(path);
    for (const place of [0.02, 0.15, 0.5, 0.9]) {
      const at = Math.floor(sound.length * place);
      const bytes = Buffer.from(sound);
      bytes[at] = bytes[at]! ^ 0x10;
      writeFileSync(path, bytes);
      let wrong = 0;
      for (const [i, name] of names.entries()) {
        const read = await entriesOf(folder, evmName(name)).then(textsIn, (error: Error) => error);
        if (read instanceof Error) {
          wrong++;
          t.match(read, { name: 'DamagedRecord', message: path });
        } else if (read.length > 0) t.strictSame(read, all[i]!.map(textOf));
      }
      if (place >= 0.5) t.equal(wrong, 1, `${tier} at ${place}`);
    }
    writeFileSync(path, sound);
  }
});

test('the rest of a log after damage is a gap until the next aggregate', async (t) => {
  const folder = t.testdir();
  const past = await openPast(folder);
  const all = [...aggregatesOf('BTCUSD', HOUR_START_NS, 41)];
  await writeAll(past, all.slice(0, 40), 10);
  await past.close();
  const path = logPath(folder, listLogs(folder)[0]!);
  const bytes = readFileSync(path);
  const at = bytes.indexOf(all[15]!.r);
  bytes[at]! ^= 1;
  writeFileSync(path, bytes);
  const again = await openPast(folder);
  await writeAll(again, all.slice(40));
  await again.close();
  const reader = new PastReader(folder);
  const kindAt = async (i: number) => (await reader.inForce(BTC, all[i]!.signedAtNs))?.kind;
  t.same(await Promise.all([9, 10, 15, 39, 40].map(kindAt)), ['priced', 'gap', 'gap', 'gap', 'priced']);
  await reader.close();
});

test('a file of signatures that is lost or empty is damage, not an hour without prices', async (t) => {
  const folder = t.testdir();
  const past = await openPast(folder);
  const first = [...aggregatesOf('BTCUSD', HOUR_START_NS, 3)];
  const second = [...aggregatesOf('BTCUSD', HOUR_START_NS + HOUR_NS, 3)];
  await writeAll(past, first);
  await writeAll(past, second);
  await past.close();
  await (await openPast(folder)).close();
  const [, hour] = listHours(folder).signatures;
  const path = tierPath(folder, hour!, 'signatures');
  const lastNs = second[2]!.signedAtNs;
  for (const lose of [() => truncateSync(path), () => rmSync(path)]) {
    lose();
    const reader = new PastReader(folder);
    await t.rejects(reader.inForce(BTC, lastNs), { name: 'DamagedRecord' });
    const found = await reader.inForce(BTC, first[2]!.signedAtNs);
    t.match(found, { kind: 'priced', timeNs: first[2]!.signedAtNs });
    await reader.close();
    await t.rejects(entriesOf(folder, BTC), { name: 'DamagedRecord' });
  }
});

test('an hour whose files are all missing is damage, and an hour without a service is not', async (t) => {
  const folder = t.testdir();
  const hourNs = (hours: bigint) => HOUR_START_NS + hours * HOUR_NS;
  const past = await openPast(folder);
  const [first, second, fourth] = [0n, 1n, 3n].map((hours) => [...aggregatesOf('BTCUSD', hourNs(hours), 3)]);
  for (const some of [first!, second!, fourth!]) await writeAll(past, some);
  await past.close();
  await (await openPast(folder)).close();
  t.equal((await entriesOf(folder, BTC)).length, 9, 'the third hour is none');
  for (const tier of ['signatures', 'inputs'] as const)
    rmSync(tierPath(folder, listHours(folder)[tier][1]!, tier));
  const reader = new PastReader(folder);
  const missing = { name: 'DamagedRecord', message: /T04.signatures are missing/ };
  await t.rejects(reader.inForce(BTC, second![1]!.signedAtNs), missing);
  t.match(await reader.inForce(BTC, first![2]!.signedAtNs), { timeNs: first![2]!.signedAtNs });
  t.match(
    await reader.inForce(BTC, hourNs(3n) - 1n),
    { timeNs: second![2]!.signedAtNs },
    'it is kept as a copy',
  );
  t.equal(await reader.inForce(evmName('ETHUSD'), second![1]!.signedAtNs), undefined);
  const lost = { firstNs: first![2]!.signedAtNs + 1n, lastNs: second![2]!.signedAtNs };
  await t.rejects(entriesOf(folder, BTC), { ...missing, ...lost });
  const read = async (fromNs: bigint, toNs: bigint) => {
    for await (const block of reader.blocks(BTC, { fromNs, toNs }, false)) return [...block.entries()].length;
    return 0;
  };
  t.equal(await read(hourNs(0n), hourNs(1n)), 3, 'the range before it');
  t.equal(await read(lost.lastNs + 1n, hourNs(4n)), 3, 'the range after it');
  await t.rejects(read(hourNs(1n), hourNs(4n)), missing);
  await reader.close();
});

test('nothing is kept with 0s', async (t) => {
  const folder = join(t.testdir(), 'past');
  const past = await openPast(folder, { proofsNs: 0n, signaturesNs: 0n });
  await writeAll(past, aggregatesOf('BTCUSD', HOUR_START_NS, 3));
  t.same(listLogs(folder), []);
  await past.close();
});

test('a hash that a publisher wrote without its leading zeros reads back so', async (t) => {
  const folder = t.testdir();
  const past = await openPast(folder);
  let inputNs = HOUR_START_NS;
  while (!inputOf('BTCUSD', 0, inputNs).wire.msgHash.startsWith('0x0'))
    inputNs = (inputNs - 1_000_000_000n) as TimeNs;
  const { wire, ...input } = inputOf('BTCUSD', 0, inputNs);
  const short = { ...wire, msgHash: wire.msgHash.replace(/^0x0+/, '0x') };
  await writeAll(past, [aggregateOf('BTCUSD', HOUR_START_NS, [{ ...input, wire: short }])]);
  const reader = new PastReader(folder);
  t.match(await reader.inForce(BTC, HOUR_START_NS), { aggregate: { inputs: [{ wire: short }] } });
  await reader.close();
  await past.close();
});

test('after a disk that failed for long the lost part is a gap', async (t) => {
  const folder = t.testdir();
  const past = await openPast(folder, { waitingMax: 50 });
  const times = (index: number) => (HOUR_START_NS + BigInt(index)) as TimeNs;
  const input = inputOf('BTCUSD', 0, HOUR_START_NS);
  for (let i = 0; i < 52; i++) {
    const aggregate = aggregateOf('BTCUSD', times(i), [input]);
    past.append(aggregate, holdingOfAggregate(aggregate));
  }
  t.equal(past.figures().entriesWaiting, 50);
  await commit(past);
  const next = aggregateOf('BTCUSD', times(60), [input]);
  past.append(next, holdingOfAggregate(next));
  await commit(past);
  const reader = new PastReader(folder);
  t.match(await reader.inForce(BTC, times(51)), { kind: 'gap' });
  t.match(await reader.inForce(BTC, times(60)), { kind: 'priced' });
  await reader.close();
  await past.close();
});

test('assets in force at a start are carried into the next hour, and removed assets are not', async (t) => {
  const folder = t.testdir();
  const one = aggregateOf('BTCUSD', HOUR_START_NS, [inputOf('BTCUSD', 0, HOUR_START_NS)]);
  const removed = aggregateOf('GONE', (HOUR_START_NS + 1n) as TimeNs, [inputOf('GONE', 0, HOUR_START_NS)]);
  const past = await openPast(folder);
  await writeAll(past, [one, removed]);
  await past.close();
  const again = new PastWriter(pastOptionsOf(folder));
  const asset = sampleAsset(0, { symbol: 'BTCUSD' });
  again.open([{ asset, holding: holdingOfAggregate(one) }]);
  const laterNs = (HOUR_START_NS + HOUR_NS + 5n) as TimeNs;
  await writeAll(again, [aggregateOf('ETHUSD', laterNs, [inputOf('ETHUSD', 0, laterNs)])]);
  const reader = new PastReader(folder);
  const kindAt = async (name: AssetName) => (await reader.inForce(name, laterNs))?.kind;
  t.equal(await kindAt(BTC), 'priced');
  t.equal(await kindAt(evmName('GONE')), undefined);
  await reader.close();
  await again.close();
});

test('a past that begins with a log is complete from its first new aggregate, not from a repeated one', async (t) => {
  const startNs = HOUR_START_NS + HOUR_NS / 2n;
  const oneOf = (symbol: string, timeNs: bigint) => [...aggregatesOf(symbol, timeNs, 1)][0]!;
  const early = oneOf('ETHUSD', startNs - 600_000_000_000n);
  const earlier = oneOf('DOTUSD', startNs - 1_200_000_000_000n);
  const btc = [...aggregatesOf('BTCUSD', startNs, 20)];
  for (const [where, order] of [
    ['at the beginning', [early, earlier, ...btc]],
    ['in another order', [earlier, early, ...btc]],
    ['in the middle', [...btc.slice(0, 10), early, earlier, ...btc.slice(10)]],
  ] as const) {
    const folder = join(t.testdir({}), where);
    const past = await openPast(folder, { hasRepeated: true });
    await writeAll(past, order, 100);
    const reader = new PastReader(folder);
    t.equal(await reader.keptFrom(), btc[0]!.signedAtNs, where);
    for (const [one, name] of [
      [early, evmName('ETHUSD')],
      [earlier, evmName('DOTUSD')],
    ] as const) {
      const entry = await reader.inForce(name, btc[15]!.signedAtNs);
      t.strictSame(textsIn([entry!]), [textOf(one)], `${where}: ${one.symbol} is in force`);
      t.strictSame(await entriesOf(folder, name), [], `${where}: and in no range`);
    }
    t.equal((await entriesOf(folder, BTC)).length, 20);
    await reader.close();
    await past.close();
  }
});

test('integers of any sign and size are read as they were written, and can be skipped', async (t) => {
  const edges = [
    0n,
    1n,
    63n,
    64n,
    1n << 20n,
    1n << 47n,
    (1n << 48n) - 1n,
    1n << 48n,
    1n << 49n,
    1n << 64n,
    1n << 127n,
  ];
  const values = edges.flatMap((edge) => [edge, edge + 1n, -edge, -edge - 1n]);
  const writer = new PackedWriter();
  for (const value of values) writer.integer(value);
  const bytes = writer.take();
  const [reader, skipping] = [new PackedReader(bytes), new PackedReader(bytes)];
  t.same(
    values.map(() => reader.integer()),
    values,
  );
  for (const _ of values) skipping.skipInteger();
  t.ok(reader.isAtEnd && skipping.isAtEnd);
  t.throws(() => skipping.skip(1), RangeError);
});

test("an aggregate that comes before the logs are read is written after the last process's entries", async (t) => {
  const folder = t.testdir();
  const all = [...aggregatesOf('BTCUSD', HOUR_START_NS, 40)];
  const first = await openPast(folder);
  await writeAll(first, all.slice(0, 30));
  await first.close();
  const past = new PastWriter(pastOptionsOf(folder));
  past.open([{ asset: sampleAsset(0, { symbol: 'BTCUSD' }), holding: holdingOfAggregate(all[29]!) }]);
  await writeAll(past, all.slice(28));
  t.strictSame(textsIn(await entriesOf(folder, BTC)), all.map(textOf), 'none twice');
  await past.close();
});

test('logs that cannot be read fail each write of aggregates, until they can', async (t) => {
  const folder = t.testdir();
  const first = await openPast(folder);
  await writeAll(first, aggregatesOf('BTCUSD', HOUR_START_NS, 3));
  await first.close();
  const [place] = listLogs(folder);
  rmSync(logPath(folder, place!));
  mkdirSync(logPath(folder, place!));
  const past = new PastWriter(pastOptionsOf(folder));
  past.open([]);
  await t.rejects(past.load(), { code: 'EISDIR' });
  await past.write();
  const [one] = aggregatesOf('BTCUSD', HOUR_START_NS, 1);
  past.append(one!, holdingOfAggregate(one!));
  await t.rejects(past.write(), { code: 'EISDIR' });
  rmdirSync(logPath(folder, place!));
  await past.write();
  await past.close();
});

test('an input that the last aggregate had is written like an equal input', async (t) => {
  const written = async (folder: string, copied: boolean) => {
    const past = await openPast(folder);
    for (const aggregate of aggregatesOf('BTCUSD', HOUR_START_NS, 60, { uses: 3 }))
      past.append(aggregate, holdingOfAggregate(copied ? structuredClone(aggregate) : aggregate));
    await commit(past);
    const logs = listLogs(folder).map((place) => readFileSync(logPath(folder, place)));
    await past.close();
    return logs;
  };
  const dir = t.testdir({ copies: {}, same: {} });
  const copies = await written(join(dir, 'copies'), true);
  t.equal(copies.length, 1);
  t.same(await written(join(dir, 'same'), false), copies);
});
