import { writeFileSync } from 'node:fs';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { test } from 'tap';
import { FILE_KINDS, type FileKind, hourOf, hourPath } from '../../src/past/hour_paths.js';
import { HourReader } from '../../src/past/hour_reader.js';
import { OPEN_HOURS_MAX, OpenFiles } from '../../src/past/open_files.js';
import { HOUR_START_NS } from './sample_past.js';

const HOUR = hourOf(HOUR_START_NS);

function filesOf(folder: string, hours: number): OpenFiles<FileKind> {
  for (let i = 0; i < hours; i++)
    for (const kind of FILE_KINDS) writeFileSync(hourPath(folder, HOUR + i, kind), '');
  return new OpenFiles((hour, kind) => hourPath(folder, hour, kind));
}

/** Enters an hour, and records its number when the wait is over. */
function enterLater(files: OpenFiles<FileKind>, hour: number, entered: number[]): Promise<void> {
  return files.enter(hour).then(() => {
    entered.push(hour);
  });
}

test('reads of the same hour share its files, and the last of them closes the files', async (t) => {
  const files = filesOf(t.testdir(), 1);
  await files.enter(HOUR);
  await files.enter(HOUR);
  const [first, second] = await Promise.all([files.open(HOUR, 'inputs'), files.open(HOUR, 'inputs')]);
  t.equal(second!.file, first!.file);
  t.not((await files.open(HOUR, 'jsonl'))!.file, first!.file);
  await files.leave(HOUR);
  t.ok((await first!.file.stat()).isFile(), 'the second read still uses it');
  await files.leave(HOUR);
  t.equal(first!.file.fd, -1);
});

test('with too many hours in use a read waits, and reads start in the order in which they came', async (t) => {
  const folder = t.testdir();
  const files = filesOf(folder, OPEN_HOURS_MAX + 2);
  for (let i = 0; i < OPEN_HOURS_MAX; i++) {
    await files.enter(HOUR + i);
    await files.open(HOUR + i, 'jsonl');
  }
  const entered: number[] = [];
  const [next, after] = [HOUR + OPEN_HOURS_MAX, HOUR + OPEN_HOURS_MAX + 1];
  const waiting = [next, HOUR, after].map((hour) => enterLater(files, hour, entered));
  await endOfTurn();
  t.strictSame(entered, [], 'also a read of an hour that is open');
  await files.leave(HOUR + 1);
  await Promise.all(waiting.slice(0, 2));
  t.strictSame(entered, [next, HOUR]);
  await files.leave(HOUR);
  await endOfTurn();
  t.strictSame(entered, [next, HOUR], 'the hour has another read');
  await files.leave(HOUR);
  await waiting[2];
  t.strictSame(entered, [next, HOUR, after]);
  // Node 26 ends a process whose garbage collection finds an open file.
  for (let hour = HOUR + 2; hour <= after; hour++) await files.leave(hour);
});

test('a file that does not exist is found when it is there', async (t) => {
  const folder = t.testdir();
  const files = new OpenFiles<FileKind>((hour, kind) => hourPath(folder, hour, kind));
  await files.enter(HOUR);
  t.strictSame(await Promise.all([files.open(HOUR, 'inputs'), files.open(HOUR, 'inputs')]), [
    undefined,
    undefined,
  ]);
  writeFileSync(hourPath(folder, HOUR, 'inputs'), '');
  t.ok(await files.open(HOUR, 'inputs'));
  await files.leave(HOUR);
});

test('more readers than open hours are all answered', async (t) => {
  const folder = t.testdir();
  const hours = 3 * OPEN_HOURS_MAX;
  filesOf(folder, hours);
  const reader = new HourReader(folder, () => true);
  const listed = { firstNs: 1n, lastNs: 2n, bytes: 9, inputsBytes: 0, crc: 0, losses: [] };
  const damages = await Promise.all(
    Array.from({ length: 20 * hours }, async (_, i) => {
      const open = await reader.open({ ...listed, hour: HOUR + (i % hours) });
      await open.close();
      return open.damage[0]?.damage;
    }),
  );
  t.ok(damages.every((damage) => damage?.endsWith('has 0 bytes instead of 9')));
});
