import { pbkdf2 } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Test, test } from 'tap';
import {
  type JournalFrame,
  LedgerJournal,
  readJournal,
} from '../../../src/publiclog/ledger/ledger_journal.js';

function folderOf(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'tickseal-journal-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  return folder;
}

const frame = (byte: number): JournalFrame => ({ kind: 'record', bytes: Uint8Array.of(byte) });

/** Occupies the threads of libuv for a while, so that an fdatasync which begins now runs later. */
function occupyThreads(): Promise<unknown> {
  return Promise.all(Array.from({ length: 16 }, () => promisify(pbkdf2)('', '', 20_000, 32, 'sha256')));
}

test('a flush that is running when a new file begins does not use a closed file', async (t) => {
  const folder = folderOf(t);
  const journal = new LedgerJournal(folder);
  journal.append([frame(1)]);
  const occupied = occupyThreads();
  const flushed = journal.flush();
  await setImmediate();
  const restarted = journal.restart([frame(2)]);
  await t.resolves(flushed);
  await restarted;
  t.same(readdirSync(folder), ['running-2']);
  journal.append([frame(3)]);
  const last = journal.flush();
  await setImmediate();
  await journal.close();
  await t.resolves(last);
  t.same(readJournal(folder), [frame(2), frame(3)]);
  await occupied;
});

test('a flush does not end before another one that already writes its frames', async (t) => {
  const journal = new LedgerJournal(folderOf(t));
  journal.append([frame(1)]);
  const occupied = occupyThreads();
  const ended: string[] = [];
  await Promise.all(
    ['first', 'second'].map(async (name) => ended.push(await journal.flush().then(() => name))),
  );
  t.same(ended, ['first', 'second']);
  await journal.close();
  await occupied;
});
