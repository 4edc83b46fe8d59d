import { randomBytes } from 'node:crypto';
import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { type Test, test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { DiskLog, type DiskLogOptions, type LogEnd } from '../../../src/log/disk/disk_log.js';
import { FRAME_HEAD_BYTES, frameAt } from '../../../src/log/disk/log_frame.js';
import { listSegments, SegmentReader, segmentPath } from '../../../src/log/disk/segment.js';

const START: LogEnd = { last: { segment: 0, id: '' }, unsealed: [] };
const HOUR_NS = 3_600_000_000_000n;

interface Setup {
  readonly folder: string;
  readonly clock: { timeNs: bigint; nowNs(): bigint };
  readonly sealed: number[];
  readonly open: (more?: Partial<DiskLogOptions>, end?: LogEnd) => DiskLog;
}

function setUp(t: Test): Setup {
  const folder = t.testdir();
  const clock = { timeNs: 500_000n * HOUR_NS, nowNs: () => clock.timeNs };
  const sealed: number[] = [];
  return {
    folder,
    clock,
    sealed,
    open: (more = {}, end = START) =>
      new DiskLog({ folder, clock, seal: async ({ segment }) => void sealed.push(segment), ...more }, end),
  };
}

async function read(
  folder: string,
  number = 1,
): Promise<{ lines: string[]; damage: string[]; hasTail: boolean }> {
  const reader = (await SegmentReader.open(folder, number))!;
  const lines: string[] = [];
  await reader.refresh((some) => void lines.push(...some));
  await reader.close();
  return { lines, damage: reader.damage, hasTail: reader.hasTail };
}

test('entries are read as they were appended', async (t) => {
  const { folder, open } = setUp(t);
  const log = open();
  log.append('{"a":1}');
  log.append('{"b":"ü"}');
  await log.durable();
  const long = Array.from({ length: 3_000 }, (_, i) => `{"n":${i},"text":"${'x'.repeat(1_000)}"}`);
  for (const line of long) log.append(line);
  t.equal(log.waiting, 3_000);
  await log.durable();
  t.equal(log.waiting, 0);
  t.same((await read(folder)).lines, ['{"a":1}', '{"b":"ü"}', ...long]);
  await log.close();
});

test('a reader follows a segment that grows, and reads a frame again', async (t) => {
  const { folder, open } = setUp(t);
  const log = open();
  const reader = async () => (await SegmentReader.open(folder, 1))!;
  log.append('one');
  await log.durable();
  const one = await reader();
  const seen: string[] = [];
  const places: { at: number; end: number }[] = [];
  const follow = () =>
    one.refresh((lines, place) => {
      seen.push(...lines);
      places.push(place);
    });
  await follow();
  log.append('two');
  await log.durable();
  await Promise.all([follow(), follow()]);
  t.same(seen, ['one', 'two']);
  t.same(await one.read(places[1]!), ['two']);
  t.same(one.head?.segment, 1);
  await one.close();
  await log.close();
});

test('a segment ends by its size, its age and its hour, and is sealed and removed', async (t) => {
  const { folder, clock, sealed, open } = setUp(t);
  const log = open({ segmentBytesMax: 300 });
  const write = async (line: string) => {
    log.append(line);
    await log.durable();
  };
  await write('x'.repeat(400));
  await write('second segment, because the first is full');
  clock.timeNs += 600_000_000_000n;
  await write('third, because the second is ten minutes old');
  clock.timeNs += HOUR_NS - 900_000_000_000n;
  await write('fourth');
  clock.timeNs += 1_000_000_000_000n;
  await write('fifth');
  await log.close();
  t.same(sealed, [1, 2, 3, 4]);
  t.same(listSegments(folder), [5]);
});

test('a log continues after the last segment, and seals what the last process left', async (t) => {
  const { folder, sealed, open } = setUp(t);
  const first = open();
  first.append('one');
  await first.durable();
  const last = first.newest;
  await first.close();
  const second = open({}, { last, unsealed: [last] });
  second.append('two');
  await second.durable();
  second.beginSealing();
  t.equal(second.newest.segment, 2);
  const reader = (await SegmentReader.open(folder, 2))!;
  await reader.refresh(() => {});
  t.equal(reader.head?.previous, last.id, 'a segment names the one before');
  await reader.close();
  await second.close();
  t.same(sealed, [1]);
});

test('a seal that fails is tried again', async (t) => {
  const { open } = setUp(t);
  let tries = 0;
  const log = open({
    segmentBytesMax: 1,
    seal: async () => {
      if (++tries === 1) throw new Error('no room');
    },
  });
  log.append('one');
  await log.durable();
  log.append('two');
  await log.durable();
  while (log.segmentsToSeal > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  t.equal(tries, 2);
  await log.close();
});

test('the bytes of a commit that failed are written over', async (t) => {
  const { folder, open } = setUp(t);
  const log = open();
  log.append('one');
  await log.durable();
  appendFileSync(segmentPath(folder, 1), Buffer.alloc(5_000, 7));
  t.same((await read(folder)).lines, ['one']);
  log.append('two');
  await log.durable();
  const { lines, damage, hasTail } = await read(folder);
  t.same(lines, ['one', 'two']);
  t.same(damage, []);
  t.notOk(hasTail);
  await log.close();
});

test('collected entries are part of the commit that takes them', async (t) => {
  const { folder, open } = setUp(t);
  let waiting = ['newest of many'];
  const events: string[] = [];
  const log = open({
    collect: () => waiting.splice(0),
    hasMore: () => waiting.length > 0,
    onCommit: {
      begun: () => events.push('begun'),
      settled: (isOnDisk) => events.push(`settled ${isOnDisk}`),
    },
  });
  await log.durable();
  t.same((await read(folder)).lines, ['newest of many']);
  waiting = ['again'];
  log.changed();
  await log.close();
  t.same((await read(folder)).lines, ['newest of many', 'again']);
  t.same(events, ['begun', 'settled true', 'begun', 'settled true']);
});

test('every flipped byte costs at most its frame and is named, and a cut end is a tail', async (t) => {
  const { folder, open } = setUp(t);
  const log = open();
  const lines = ['first', 'second', 'third'];
  for (const line of lines) {
    log.append(line);
    await log.durable();
  }
  await log.close();
  const path = segmentPath(folder, 1);
  const whole = readFileSync(path);
  const head = frameAt(whole, 0)!;
  for (let at = head.end; at < whole.length; at++) {
    const bytes = Buffer.from(whole);
    bytes[at] = bytes[at]! ^ 0x41;
    writeFileSync(path, bytes);
    const found = await read(folder);
    const lost = lines.filter((line) => !found.lines.includes(line));
    t.ok(lost.length === 1 && (found.damage.length === 1 || found.hasTail), `byte ${at}`);
  }
  writeFileSync(path, whole);
  truncateSync(path, whole.length - 1);
  const cut = await read(folder);
  t.same(cut, { lines: ['first', 'second'], damage: [], hasTail: true });
  t.equal(frameAt(whole.subarray(0, FRAME_HEAD_BYTES), 0), undefined);
});

test('a commit of several frames counts only when it is whole, and damage does not hide the rest of it', async (t) => {
  const { folder, open } = setUp(t);
  const log = open();
  log.append('before');
  await log.durable();
  const long = Array.from({ length: 40 }, (_, i) => `${i} ${randomBytes(50_000).toString('hex')}`);
  for (const line of long) log.append(line);
  await log.durable();
  log.append('after');
  await log.close();
  const path = segmentPath(folder, 1);
  const whole = readFileSync(path);
  const frames = [];
  for (let at = 0; ; at = frames.at(-1)!.end) {
    const frame = frameAt(whole, at);
    if (frame === undefined) break;
    frames.push(frame);
  }
  t.same(
    frames.map(({ hasMore }) => hasMore),
    [false, false, true, true, true, false, false],
  );
  const last = frames.at(-2)!;
  for (const size of [frames[3]!.at, frames[3]!.end, last.at + 1, last.end - 1]) {
    writeFileSync(path, whole.subarray(0, size));
    const { lines, hasTail } = await read(folder);
    t.same(lines, ['before']);
    t.ok(hasTail);
  }
  for (const frame of frames.slice(2, -1)) {
    const bytes = Buffer.from(whole);
    bytes[frame.at + 100]! ^= 1;
    writeFileSync(path, bytes);
    const { lines, damage } = await read(folder);
    t.same([lines[0], lines.at(-1), damage.length], ['before', 'after', 1]);
    t.ok(lines.length > 2 + 40 - 12, `${lines.length} lines`);
  }
});

test('a failed commit is repeated as it was; entries that are collected meanwhile come in the next one', async (t) => {
  const { folder, open } = setUp(t);
  let freeBytes = 99;
  let calls = 0;
  const log = open({
    reserveBytes: 100,
    freeBytes: () => freeBytes,
    collect: () => [`collected ${++calls}`],
  });
  log.append('one');
  await t.rejects(log.durable(), {
    message:
      'the data folder cannot be written: the disk is full: storage.reserve keeps 1 KiB free; 0 KiB are free there',
  });
  log.append('two');
  await eventually(async () => log.failure() !== undefined);
  freeBytes = 100;
  await eventually(async () => log.failure() === undefined);
  await log.durable();
  await log.close();
  t.same((await read(folder)).lines, ['one', 'collected 1', 'two', 'collected 2']);
});

test('a commit fails when the work before it fails', async (t) => {
  const { folder, open } = setUp(t);
  let isFailing = true;
  const log = open({
    beforeCommit: async () => {
      if (isFailing) throw new Error('no ink');
    },
  });
  log.append('one');
  await t.rejects(log.durable(), /no ink/);
  isFailing = false;
  await eventually(async () => log.failure() === undefined);
  await log.close();
  t.same((await read(folder)).lines, ['one']);
});
