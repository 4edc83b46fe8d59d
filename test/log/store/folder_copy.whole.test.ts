import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { appendTo, latestIn } from '../../../scripts/load/store_records.js';
import { eventually } from '../../../scripts/load/wait.js';
import { logFolderOf, segmentPath } from '../../../src/log/disk/segment.js';
import type { CandleColumns } from '../../../src/log/store/candle_fold.js';
import { readContents } from '../../../src/log/store/contents.js';
import { backUp } from '../../../src/log/store/folder_copy.js';
import { openStore } from '../../../src/log/store/store.js';
import { FakeClock } from '../../clock/fake_clock.js';
import { runProgram } from '../../run_program.js';
import { ServeProcess, writeConfig } from '../../service/child.js';
import { Feed, units as priceOf } from '../../service/feed.js';
import { get } from '../../service/harness.js';
import { atSecond, putInputs, START_S, sampleAggregate, storeOptions, units } from './sample.js';

const main = new URL('../../../src/cli/main.js', import.meta.url).pathname;
const program = (...args: string[]) => runProgram(process.execPath, [main, ...args]);

/** Makes a store with some days of candles, and waits until its segments are moved. */
async function filledFolder(dir: string): Promise<void> {
  const clock = new FakeClock(atSecond(START_S));
  const options = storeOptions(dir, { clock });
  const store = await openStore(options);
  const { assets, publishers } = options;
  for (let i = 0; i < 1_000; i++) {
    clock.timeNs = atSecond(START_S + i * 291);
    const aggregate = sampleAggregate(assets[i % 2]!, publishers, units(i), clock.nowNs());
    putInputs(store, aggregate);
    appendTo(store, aggregate);
    if (i % 100 === 0) await store.durable();
  }
  await store.durable();
  await eventually(() => readdirSync(logFolderOf(dir)).length === 1);
  await store.close();
}

/** Returns the files of a folder and their bytes. */
function filesOf(dir: string): (readonly [string, Buffer])[] {
  const names = readdirSync(dir, { recursive: true, encoding: 'utf8' }).sort();
  return names
    .filter((name) => statSync(join(dir, name)).isFile())
    .map((name) => [name, readFileSync(join(dir, name))]);
}

test('a backup has every file of the folder, a store opens it, and no other backup replaces it', async (t) => {
  const dir = t.testdir();
  const [source, target] = [join(dir, 'source'), join(dir, 'deep', 'target')];
  await filledFolder(source);
  const contents = await backUp(source, target, {
    // The state notes the size of the public log, which must not be copied before it.
    copyMore: async (_, unfinished) => t.ok(readdirSync(unfinished).includes('log'), 'other parts come last'),
  });
  t.same(readdirSync(target).sort(), ['candles', 'format', 'log', 'state.snapshot']);
  t.same(filesOf(target), filesOf(source));
  t.ok(contents.bytes < 4 * (await readContents(source)).bytes, 'empty rows take no room');
  t.match(contents, {
    isInUse: false,
    isClean: true,
    damage: [],
    newestSecond: START_S + 999 * 291,
    assets: [{ symbol: 'ASSET0USD', inputs: 2, firstDaySecond: START_S }, { state: 'priced' }],
  });
  const options = storeOptions(target);
  const restored = await openStore(options);
  t.equal(latestIn(restored, options.assets[1]!)?.price, units(999));
  t.equal(
    (restored.history(options.assets[0]!, 'D', 0, START_S * 2, 100) as CandleColumns).t.length,
    Math.ceil((1_000 * 291) / 86_400),
  );
  await restored.close();
  await t.rejects(backUp(source, target), /target has a format already/);
  await t.rejects(backUp(join(source, 'candles'), join(dir, 'new')), /it is not a data folder/);
  t.notOk(existsSync(join(dir, 'new')));
  await t.rejects(backUp(source, '/proc/tickseal'), /no backup of .* was made: /);
});

test('damage of each part is named, and not taken for a backup', async (t) => {
  const dir = join(t.testdir(), 'source');
  await filledFolder(dir);
  const segment = segmentPath(logFolderOf(dir), Number(readdirSync(logFolderOf(dir))[0]!.slice(0, -4)));
  const month = join(dir, 'candles', 'ASSET0USD.evm', '2024-01');
  const snapshot = join(dir, 'state.snapshot');
  const target = join(t.testdirName, 'target');
  const damaged = async (file: string, damage: (bytes: Buffer) => Buffer, reason: RegExp) => {
    const whole = readFileSync(file);
    writeFileSync(file, damage(Buffer.from(whole)));
    const found = await readContents(dir).then(
      ({ damage }) => damage.join(),
      (error: Error) => error.message,
    );
    t.match(found, reason);
    await t.rejects(backUp(dir, target), reason);
    t.same(readdirSync(target), []);
    writeFileSync(file, whole);
  };
  const flipped = (at: number) => (bytes: Buffer) => bytes.fill(bytes[at]! ^ 1, at, at + 1);
  await damaged(segment, flipped(60), /\.log is damaged at byte/);
  await damaged(snapshot, flipped(200), /state\.snapshot is damaged: at byte/);
  await damaged(month, flipped(8), /2024-01 is damaged: the checksum of the candle of 2024-01-01T00:00 /);
  await damaged(month, (bytes) => bytes.subarray(0, 4_096), /2024-01 is damaged: it is cut off/);
  await damaged(month, (bytes) => bytes.fill(0, 3_600, 4_400), /2024-01 is damaged: \d candles are missing/);
  t.same((await readContents(dir)).damage, []);
});

/** Returns the answers of `/v1/prices/recent` for a range of seconds, by second. */
async function recentOf(url: string, fromS: number, toS: number): Promise<Map<number, string>> {
  const answers = new Map<number, string>();
  for (let second = fromS; second <= toS; second++) {
    const answer = await get(`${url}/v1/prices/recent?assets=BTCUSD&timestamp=${second}`);
    if (answer.status === 200) answers.set(second, await answer.text());
  }
  return answers;
}

test('a drill: a backup under load is restored in another place, with every price that was served before it', async (t: Test) => {
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

  const store = join(dir, 'store');
  const backup = join(dir, 'backup');
  t.match(await program('backup', backup, '--from', store), /backup: [\d,]+ files, .*, checked: .*log, /);
  const shown = await program('store', store);
  t.match(shown, /, format 2, a service runs on it\n/);
  t.match(shown, /\ndamage: none\n/);
  const before = price;
  await eventually(() => price > before + 10, { what: 'the service goes on' });
  isLoaded = false;
  await load;
  feed.socket.ws.terminate();
  serve.child.kill('SIGTERM');
  t.match(await serve.exited, { code: 0 });

  // The same command restores a backup, here into the empty folder of another configuration.
  const restored = join(dir, 'restored');
  t.match(await program('backup', restored, '--from', backup), /restored: [\d,]+ files, .*, checked: /);
  t.same(filesOf(join(restored, 'log')), filesOf(join(backup, 'log')));
  const again = new ServeProcess(['--config', writeConfig(dir, { storage: { dir: restored } })]);
  t.teardown(() => again.kill());
  const { url: restoredUrl } = await again.ready();
  t.same(await recentOf(restoredUrl, startS, Math.max(...served.keys())), served);
  again.child.kill('SIGTERM');
  t.match(await again.exited, { code: 0 });
});
