import { randomBytes } from 'node:crypto';
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { type Test, test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { DiskLog, type DiskLogOptions, type LogEnd } from '../../../src/log/disk/disk_log.js';
import { FRAME_HEAD_BYTES, frameAt } from '../../../src/log/disk/log_frame.js';
import { listSegments, SegmentReader, segmentPath } from '../../../src/log/disk/segment.js';
import { FakeClock } from '../../clock/fake_clock.js';

const START: LogEnd = { last: { segment: 0, id: '' }, unsealed: [] };
const HOUR_NS = 3_600_000_000_000n;

function setUp(t: Test) {
  const folder = t.testdir();
  const clock = new FakeClock(500_000n * HOUR_NS);
  const sealed: number[] = [];
  const seal: DiskLogOptions['seal'] = async ({ segment }) => void sealed.push(segment);
  const open = (more: Partial<DiskLogOptions> = {}, end = START) =>
    new DiskLog({ folder, clock, seal, ...more }, end);
  return { folder, clock, sealed, open };
}

async function read(folder: string) {
  const reader = (await SegmentReader.open(folder, 1))!;
  const lines: string[] = [];
  await reader.refresh((some) => void lines.push(...some));
  await reader.close();
  return { lines, damage: reader.damage, hasTail: reader.hasTail };
}

test('a segment ends by its size, its age and its hour, and is sealed and removed', async (t) => {
  const { folder, clock, sealed, open } = setUp(t);
  const log = open({ segmentBytesMax: 300 });
  const write = async (line: string) => {
    log.append(line);
    await log.durable();
  };
  await write('x'.repeat(400));
  await write('second segment, because the first is full');
  clock.advance(600_000_000_000n);
  await write('third, because the second is ten minutes old');
  clock.advance(HOUR_NS - 900_000_000_000n);
  await write('fourth');
  clock.advance(1_000_000_000_000n);
  await write('fifth');
  await log.close();
  t.same(sealed, [1, 2, 3, 4]);
  t.same(listSegments(folder), [5]);
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
  const events: string[] = [];
  const log = open({
    reserveBytes: 100,
    freeBytes: () => freeBytes,
    collect: () => [`collected ${++calls}`],
    onCommit: {
      begun: () => events.push('begun'),
      settled: (isOnDisk) => events.push(`settled ${isOnDisk}`),
    },
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
  t.same(events, ['begun', 'settled false', 'begun', 'settled true', 'begun', 'settled true']);
});
