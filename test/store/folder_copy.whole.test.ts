import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { appendTo, latestIn } from '../../scripts/load/store_records.js';
import { eventually } from '../../scripts/load/wait.js';
import { readContents } from '../../src/store/contents.js';
import { backUp } from '../../src/store/folder_copy.js';
import { openFolderToRead } from '../../src/store/lmdb/folder.js';
import { findPageDamage } from '../../src/store/lmdb/page_tree.js';
import { openStore } from '../../src/store/store.js';
import { runProgram } from '../run_program.js';
import { ServeProcess, writeConfig } from '../service/child.js';
import { Feed, units as priceOf } from '../service/feed.js';
import { get } from '../service/harness.js';
import { atSecond, putInputs, START_S, sampleAggregate, storeOptions, units } from './sample.js';

const TABLES = ['seconds', 'inputs', 'hours', 'days', 'quarters', 'marks'] as const;

/** Returns all records of a folder, by table and key. */
async function recordsOf(dir: string): Promise<Map<string, string>> {
  const folder = openFolderToRead(dir);
  const records = new Map<string, string>();
  for (const name of TABLES) {
    for (const { key, value } of folder.openTable(name).getRange())
      records.set(`${name} ${JSON.stringify(key)}`, value.toString('hex'));
  }
  await folder.close();
  return records;
}

/** Makes a store with some days of candles. */
async function filledFolder(dir: string): Promise<void> {
  const options = storeOptions(dir);
  const store = await openStore(options);
  const { assets, publishers } = options;
  for (let i = 0; i < 3_000; i++) {
    const aggregate = sampleAggregate(assets[i % 2]!, publishers, units(i), atSecond(START_S + i * 97));
    putInputs(store, aggregate);
    appendTo(store, aggregate);
    if (i % 500 === 0) await store.durable();
  }
  await store.durable();
  await store.close();
}

test('a backup has every record of the folder, and a store opens it', async (t) => {
  const source = join(t.testdir(), 'source');
  const target = join(t.testdirName, 'deep', 'target');
  await filledFolder(source);
  const contents = await backUp(source, target);
  t.same(readdirSync(target), ['data.mdb']);
  const records = await recordsOf(source);
  t.ok(records.size > 100);
  t.same(await recordsOf(target), records);
  t.equal(
    Object.values(contents.tables).reduce((sum, table) => sum + table.records, 0),
    records.size,
  );
  const options = storeOptions(target);
  const restored = await openStore(options);
  t.equal(latestIn(restored, options.assets[1]!)?.price, units(2_999));
  appendTo(
    restored,
    sampleAggregate(options.assets[1]!, options.publishers, units(1), atSecond(START_S + 400_000)),
  );
  await restored.close();
  t.same((await readContents(target)).damage, [], 'what is written to it afterwards is whole too');
});

test('a backup is refused where it would replace one, or there is nothing to copy', async (t) => {
  const dir = t.testdir({ target: { 'data.mdb': 'kept' }, empty: {} });
  await filledFolder(join(dir, 'source'));
  await t.rejects(backUp(join(dir, 'source'), join(dir, 'target')), /target has a data\.mdb already/);
  t.equal(readFileSync(join(dir, 'target/data.mdb'), 'utf8'), 'kept');
  await t.rejects(backUp(join(dir, 'empty'), join(dir, 'new')), /it is not a data folder/);
  await t.rejects(backUp(join(dir, 'nowhere'), join(dir, 'new')), /it is not a data folder/);
  t.notOk(existsSync(join(dir, 'new')));
  await t.rejects(backUp(join(dir, 'source'), '/proc/tickseal'), /no backup of .* was made: /);
});

test('a folder whose structure is damaged is refused: lmdb itself would end the process', async (t) => {
  const dir = t.testdir();
  const source = join(dir, 'source');
  await filledFolder(source);
  const file = join(source, 'data.mdb');
  const whole = readFileSync(file);
  // The file ends with zeros after the last page.
  const usedBytes = whole.findLastIndex((byte) => byte !== 0) + 1;
  for (const [bytes, reason] of [
    [0, /data\.mdb is damaged: it is empty/],
    [3, /data\.mdb is damaged: it ends before the end of page 0/],
    [Math.floor(usedBytes / 2), /data\.mdb is damaged: it ends before the end of page/],
  ] as const) {
    writeFileSync(file, whole.subarray(0, bytes));
    await t.rejects(readContents(source), reason, `read, ${bytes} bytes`);
    await t.rejects(backUp(source, join(dir, 'target')), reason, `copied, ${bytes} bytes`);
  }
  t.notOk(existsSync(join(dir, 'target')));
});

test('a check needs no right to write', async (t) => {
  const file = join(t.testdir(), 'data.mdb');
  t.throws(() => findPageDamage(file), { code: 'ENOENT' });
  t.notOk(existsSync(file), 'nothing is made');
});

test('a damaged record is named, and not taken for a backup', async (t) => {
  const dir = join(t.testdir(), 'source');
  await filledFolder(dir);
  t.same((await readContents(dir)).damage, []);
  const file = join(dir, 'data.mdb');
  const bytes = readFileSync(file);
  damageTexts(bytes);
  writeFileSync(file, bytes);
  const { damage, damagedRecords } = await readContents(dir);
  t.equal(damagedRecords, 3_002);
  t.equal(damage.length, 20, 'the first are named');
  t.match(damage[0], /^seconds: the stored record 1704067200\/ASSET0USD is damaged/);
  const target = join(t.testdirName, 'target');
  await t.rejects(backUp(dir, target), /no backup of .* was made: 3002 records are damaged; seconds: /);
  t.same(readdirSync(target), []);
  bytes.writeUInt32LE(0, 24);
  writeFileSync(file, bytes);
  await t.rejects(readContents(dir), /data\.mdb is damaged: it is not a database/);
});

/** Changes a text that occurs in every aggregate, and in an input of each of the two assets. */
function damageTexts(bytes: Buffer): void {
  for (let at = bytes.indexOf('Zürich'); at >= 0; at = bytes.indexOf('Zürich', at + 1)) bytes[at]! ^= 1;
}

/** Returns the answers of `/v1/prices/recent` for a range of seconds, by second. */
async function recentOf(url: string, fromS: number, toS: number): Promise<Map<number, string>> {
  const answers = new Map<number, string>();
  for (let second = fromS; second <= toS; second++) {
    const answer = await get(`${url}/v1/prices/recent?assets=BTCUSD&timestamp=${second}`);
    if (answer.status === 200) answers.set(second, await answer.text());
  }
  return answers;
}

test('a backup under load is restored with every price that was served before it', async (t: Test) => {
  const dir = t.testdir();
  const serve = new ServeProcess(['--config', writeConfig(dir)]);
  t.teardown(() => serve.kill());
  const { url, socketUrl } = await serve.ready();
  const feed = await Feed.open({ socketUrl });
  let isLoaded = true;
  let price = 0;
  const load = (async () => {
    while (isLoaded) await feed.accept({ symbol: 'BTCUSD', price: priceOf(++price) });
  })();
  const startS = Math.floor(Date.now() / 1000);
  await eventually(() => price > 200 && Date.now() / 1000 > startS + 2);
  const served = await recentOf(url, startS, Math.floor(Date.now() / 1000) - 1);
  t.ok(served.size > 0);
  // Earlier records reach the disk before this price, or together with it.
  const durable = await Feed.open({ socketUrl }, { ack: 'durable' });
  await durable.accept({ symbol: 'BTCUSD', price: priceOf(price), publisher: 2 });
  durable.socket.ws.terminate();

  const target = join(dir, 'backup');
  const main = new URL('../../src/cli/main.js', import.meta.url).pathname;
  const printed = await runProgram(process.execPath, [main, 'backup', target, '--from', join(dir, 'store')]);
  t.match(printed, /backup: \d+ records, .* every record checked\n$/);
  const shown = await runProgram(process.execPath, [main, 'store', join(dir, 'store')]);
  t.match(shown, /, a service runs on it\n/);
  t.match(shown, /\nBTCUSD +\d+ .* s ago/);
  t.match(shown, /\ndamage: none\n/);
  const before = price;
  await eventually(() => price > before + 10, { what: 'the service goes on' });
  isLoaded = false;
  await load;
  feed.socket.ws.terminate();
  serve.child.kill('SIGTERM');
  t.match(await serve.exited, { code: 0 });

  const copied = await recordsOf(target);
  const restoredDir = join(dir, 'restored');
  const restored = new ServeProcess(['--config', writeConfig(dir, { storage: { dir: restoredDir } })]);
  t.teardown(() => restored.kill());
  await restored.line(/"msg":"ready"/);
  restored.child.kill('SIGTERM');
  await restored.exited;
  copyFileSync(join(target, 'data.mdb'), join(restoredDir, 'data.mdb'));
  t.same(await recordsOf(restoredDir), copied);
  const again = new ServeProcess(['--config', writeConfig(dir, { storage: { dir: restoredDir } })]);
  t.teardown(() => again.kill());
  const { url: restoredUrl } = await again.ready();
  const last = Math.max(...served.keys());
  t.same(await recentOf(restoredUrl, startS, last), served);
  again.child.kill('SIGTERM');
  t.match(await again.exited, { code: 0 });
});
