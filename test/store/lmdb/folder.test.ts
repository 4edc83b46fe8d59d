import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'lmdb';
import { test } from 'tap';
import { appendTo, latestIn } from '../../../scripts/load/store_records.js';
import { lockFolder } from '../../../src/store/lmdb/lock.js';
import { openStore, type Store } from '../../../src/store/store.js';
import { atSecond, START_S, sampleAggregate, sampleAsset, storeOptions, units } from '../sample.js';

/** Creates the socket file of a killed owner. @returns the signal that killed the owner */
function leaveKilledOwner(dir: string): string | null {
  // The script changes into the folder and listens there, because the length of a socket's path is limited.
  const script = `require('net').createServer().listen('owner.sock', () => process.kill(process.pid, 'SIGKILL'))`;
  return spawnSync(process.execPath, ['-e', script], { cwd: dir }).signal;
}

test('one process at a time can open the folder', async (t) => {
  const options = storeOptions(t.testdir());
  const store = await openStore(options);
  await t.rejects(openStore(options), /data folder .* cannot be opened: it is in use by another process/);
  await store.close();
  await (await openStore(options)).close();
});

test('a folder whose owner was killed is taken over', async (t) => {
  const dir = t.testdir();
  t.equal(leaveKilledOwner(dir), 'SIGKILL');
  const store = await openStore(storeOptions(dir));
  await store.close();
});

test('of several that find a killed owner at the same time one gets the folder', async (t) => {
  for (let round = 0; round < 5; round++) {
    const dir = mkdtempSync(join(tmpdir(), 'tickseal-test-'));
    t.teardown(() => rmSync(dir, { recursive: true, force: true }));
    leaveKilledOwner(dir);
    const locks = await Promise.allSettled(Array.from({ length: 4 }, () => lockFolder(dir)));
    const held = locks.filter(({ status }) => status === 'fulfilled');
    t.equal(held.length, 1);
    await t.rejects(lockFolder(dir), { message: 'it is in use by another process' });
    for (const lock of locks) if (lock.status === 'fulfilled') await lock.value.release(true);
    await (await lockFolder(dir)).release(true);
  }
});

test('a folder with a path longer than a socket may have', async (t) => {
  const dir = join(t.testdir(), 'deep'.repeat(20), 'er.data'.repeat(12));
  const store = await openStore(storeOptions(dir));
  await t.rejects(openStore(storeOptions(dir)), /in use/);
  await store.close();
});

test('another format version is refused and says so', async (t) => {
  const dir = t.testdir();
  await (await openStore(storeOptions(dir))).close();
  const root = open({ path: dir, noSubdir: false, overlappingSync: false, encoding: 'json' });
  await root.put('format', 1);
  await root.close();
  await t.rejects(openStore(storeOptions(dir)), /format version 1, and this program reads version 2/);
});

test('a folder in which no table can be made is released', async (t) => {
  const [store, sample] = ['../../../src/store/store.js', '../sample.js'].map(
    (file) => new URL(file, import.meta.url),
  );
  const attempts = `
    import { openStore } from '${store}';
    import { storeOptions } from '${sample}';
    for (let n = 0; n < 2; n++) await openStore(storeOptions('.')).catch(({ message }) => console.log(message));`;
  // No file may grow beyond 16 KiB, where the first table begins. The loaders of the test runner are removed, because they
  // would write larger files.
  const command = `unset NODE_OPTIONS NODE_V8_COVERAGE; ulimit -f 32; exec "$0" "$@"`;
  const args = ['-c', command, process.execPath, '--input-type=module', '-e', attempts];
  const { stdout } = spawnSync('sh', args, { cwd: t.testdir(), encoding: 'utf8' });
  t.equal(stdout, 'storage.dir: the data folder . cannot be opened: Input/output error\n'.repeat(2));
});

test('a file that is not a database is refused', async (t) => {
  const dir = t.testdir({ 'data.mdb': 'not a database'.repeat(1_000) });
  await t.rejects(openStore(storeOptions(dir)), /data folder .* cannot be opened/);
});

test('a flipped bit is detected and no wrong record is served', async (t) => {
  const dir = t.testdir();
  const options = storeOptions(dir);
  const asset = options.assets[0]!;
  const store = await openStore(options);
  // Each record has 64 hex digits that no other part of the file contains.
  const marked = (s: number, mark: number) => ({
    ...sampleAggregate(asset, [], units(s + 1), atSecond(START_S + s)),
    merkleRoot: new Uint8Array(32).fill(mark),
  });
  appendTo(store, marked(0, 0xa5));
  appendTo(store, marked(1, 0xb6));
  appendTo(store, marked(2, 0xc7));
  await store.close();
  flip(dir, Buffer.from('b6'.repeat(32)));

  const again = await openStore(options);
  t.equal(again.recent(asset, START_S)?.aggregate.price, units(1));
  t.equal(latestIn(again, asset)?.price, units(3));
  t.match(again.health(), { ok: false, reason: /is damaged/ }, 'known before it is asked for');
  t.throws(() => again.recent(asset, START_S + 1), {
    name: 'DamagedRecord',
    message: /checksum does not fit/,
  });
  t.match(again.health(), { ok: false, reason: /stored record \d+\/ASSET0USD is damaged/ });
  await again.close();

  flip(dir, Buffer.from('c7'.repeat(32)));
  await t.rejects(openStore(options), { name: 'DamagedRecord' }, 'the newest record is needed to start');
  const others = await openStore({ ...options, assets: [sampleAsset(0, { symbol: 'OTHER' })] });
  await others.close();
});

test('a damaged hour is never served or sealed, and everything else works', async (t) => {
  const dir = t.testdir();
  const options = storeOptions(dir);
  const [asset, other] = [options.assets[0]!, options.assets[1]!];
  const append = (store: Store, s: number, price: number) =>
    appendTo(store, sampleAggregate(asset, [], units(price), atSecond(START_S + s)));
  const store = await openStore(options);
  append(store, 0, 1_234_567);
  append(store, 3_600, 2);
  append(store, 7_200, 3);
  await store.close();
  flip(dir, double(1_234_567));

  const again = await openStore(options);
  t.throws(() => again.history(asset, '1', 0, START_S + 86_400, 100), { name: 'DamagedRecord' });
  append(again, 86_400, 4);
  append(again, 86_460, 5);
  await again.durable();
  appendTo(again, sampleAggregate(other, [], units(6), atSecond(START_S + 86_400)));
  await again.durable();
  t.equal(latestIn(again, asset)?.price, units(5));
  t.throws(() => again.history(asset, 'D', 0, START_S + 2 * 86_400, 100), { name: 'DamagedRecord' });
  t.same(
    again.history(asset, '1', START_S + 86_400, START_S + 2 * 86_400, 100),
    { t: [START_S + 86_400, START_S + 86_460], o: [4, 5], h: [4, 5], l: [4, 5], c: [4, 5] },
    'the days beside it are served',
  );
  t.match(again.health(), { ok: false, reason: /ASSET0USD.* is damaged/ });
  await again.close();
});

/** Returns the bytes of a double. */
function double(value: number): Buffer {
  return Buffer.from(new Float64Array([value]).buffer);
}

/** Flips a bit in every copy of these bytes. Some copies are in pages that are no longer in use. */
function flip(dir: string, mark: Buffer): void {
  const path = join(dir, 'data.mdb');
  const bytes = readFileSync(path);
  let at = bytes.indexOf(mark);
  for (; at >= 0; at = bytes.indexOf(mark, at + 1)) bytes[at + mark.length / 2]! ^= 4;
  writeFileSync(path, bytes);
}
