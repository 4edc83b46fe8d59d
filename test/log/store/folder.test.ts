import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { test } from 'tap';
import { appendTo, latestIn } from '../../../scripts/load/store_records.js';
import { listSegments, logFolderOf, segmentPath } from '../../../src/log/disk/segment.js';
import { lockFolder } from '../../../src/log/store/folder_lock.js';
import { openStore } from '../../../src/log/store/store.js';
import { FakeClock } from '../../clock/fake_clock.js';
import { atSecond, START_S, sampleAggregate, storeOptions, units } from './sample.js';

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

test('of several that find a killed owner at the same time one gets the folder', async (t) => {
  for (let round = 0; round < 3; round++) {
    const dir = t.testdir();
    t.equal(leaveKilledOwner(dir), 'SIGKILL');
    const locks = await Promise.allSettled(Array.from({ length: 4 }, () => lockFolder(dir)));
    const held = locks.filter(({ status }) => status === 'fulfilled');
    t.equal(held.length, 1);
    await t.rejects(lockFolder(dir), {
      message: 'it is in use by another process: end that one, or choose another folder',
    });
    for (const lock of locks) if (lock.status === 'fulfilled') await lock.value.release(true);
    await (await lockFolder(dir)).release(true);
  }
});

test('another format, and the folder of an earlier version, are refused in one sentence', async (t) => {
  for (const [name, reason] of [
    [
      'format',
      /: it has format "3", and this program reads format 2: use the version of the program that made it$/,
    ],
    [
      'data.mdb',
      /: it has the file data.mdb of format 1, and this program reads format 2: name another folder, or /,
    ],
  ] as const) {
    const dir = t.testdir({ [name]: '3\n' });
    await t.rejects(openStore(storeOptions(dir)), { message: reason });
    t.same(readdirSync(dir), [name], 'nothing is written');
  }
});

test('damage of the log is named at the start, and the rest of it is used', async (t) => {
  const dir = t.testdir();
  const lines: string[] = [];
  const options = storeOptions(dir, { logger: { error: (line: string) => lines.push(line), info() {} } });
  const asset = options.assets[0]!;
  const store = await openStore(options);
  for (let price = 1; price <= 3; price++) {
    appendTo(store, sampleAggregate(asset, [], units(price), atSecond(START_S + price)));
    store.marks.write('a kind', 0, atSecond(START_S + 10 - price), () => {});
    await store.durable();
  }
  await store.close();
  const path = segmentPath(logFolderOf(dir), 1);
  const bytes = readFileSync(path);
  bytes[bytes.lastIndexOf(String(units(2)))]! ^= 1;
  writeFileSync(path, bytes);
  const again = await openStore({ ...options, laterMs: 1_000_000 });
  t.equal(latestIn(again, asset)?.price, units(3));
  t.equal(again.marks.read('a kind', 0), atSecond(START_S + 9), 'a mark does not go back');
  t.match(again.health(), { ok: false, reason: /0001\.log is damaged at byte \d+/ });
  t.match(lines, [/is damaged/]);
  await again.close();
});

test('a missing segment is named, and so is the loss of everything before it', async (t) => {
  const dir = t.testdir();
  const clock = new FakeClock(atSecond(START_S));
  const options = storeOptions(dir, { clock, laterMs: 1_000_000 });
  const folder = logFolderOf(dir);
  for (let hour = 0; hour < 3; hour++) {
    clock.timeNs = atSecond(START_S + hour * 3_600);
    const store = await openStore(options);
    appendTo(store, sampleAggregate(options.assets[0]!, [], units(hour + 1), clock.nowNs()));
    await store.close();
  }
  t.same(listSegments(folder), [1, 2, 3]);
  const health = async () => {
    const store = await openStore(options);
    t.equal(latestIn(store, options.assets[0]!)?.price, units(3));
    await store.close();
    return store.health();
  };
  t.match(await health(), { ok: true });
  rmSync(segmentPath(folder, 2));
  t.match(await health(), {
    ok: false,
    reason: /0003\.log does not follow segment 1: what was between them is missing/,
  });
  rmSync(segmentPath(folder, 1));
  t.match(await health(), {
    ok: false,
    reason: /0003\.log does not follow a snapshot: what was between them is missing/,
  });
});

test('a missing newest segment is named, and what it had is lost', async (t) => {
  const dir = t.testdir();
  const clock = new FakeClock(atSecond(START_S));
  const options = storeOptions(dir, { clock });
  const folder = logFolderOf(dir);
  for (let hour = 0; hour < 2; hour++) {
    clock.timeNs = atSecond(START_S + hour * 3_600);
    const store = await openStore(options);
    appendTo(store, sampleAggregate(options.assets[0]!, [], units(hour + 1), clock.nowNs()));
    await store.durable();
    while (hour === 1 && listSegments(folder).length > 1) await setTimeout(5);
    await store.close();
    t.ok(store.isClean);
  }
  t.same(listSegments(folder), [2]);
  rmSync(segmentPath(folder, 2));
  const store = await openStore(options);
  t.notOk(store.isClean);
  t.match(store.health(), { ok: false, reason: /no segment after 1: the newest part of the log is missing/ });
  await store.close();
  // The past that it had is gone too.
  const notices: string[] = [];
  const last = { segment: 0, id: '' };
  const openFollower = async () => ({
    last,
    seal: async () => {},
    notice: (text: string) => notices.push(text),
  });
  await (await openStore({ ...options, openFollower })).close();
  t.match(notices, [
    /^it has the log to segment 0 and had it to \d+: files were removed, or are an older copy/,
  ]);
});

test('a segment that was killed when it began is no damage', async (t) => {
  const dir = t.testdir();
  const options = storeOptions(dir, { laterMs: 1_000_000 });
  for (let round = 1; round <= 3; round++) {
    const store = await openStore(options);
    t.match(store.health(), { ok: true });
    t.equal(latestIn(store, options.assets[0]!)?.price, round === 1 ? undefined : units(round - 1));
    appendTo(store, sampleAggregate(options.assets[0]!, [], units(round), atSecond(START_S + round)));
    await store.close();
    const folder = logFolderOf(dir);
    writeFileSync(segmentPath(folder, listSegments(folder).at(-1)! + 1), round === 1 ? '' : 'TSLF');
  }
});
